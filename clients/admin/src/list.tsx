import { Button, useMediaQuery, type Theme } from '@mui/material'
import type { ReactElement } from 'react'
import {
  CreateButton,
  Datagrid,
  List,
  Pagination,
  SimpleList,
  type SortPayload,
  TopToolbar,
  useDataProvider,
  useListContext,
  useNotify
} from 'react-admin'
import type { AdminDataProvider } from './providers.js'
import { type Catalogue, type Resource, type Row } from './catalogue.js'
import { saveExport } from './csv-file.js'
import { fieldOf, listedProperties } from './fields.js'
import { FilterBar } from './filters.js'
import { inWords, valueText } from './words.js'

interface EntityListProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

/** The list of a resource: a table, or on a phone one line for each row. */
export function EntityList({ resource, catalogue }: EntityListProps): ReactElement {
  const { name } = resource
  const sorted = resource.properties.some((property) => property.name === 'id' && property.sortable)
  return (
    <List
      title={inWords(name)}
      actions={<ListActions resource={resource} catalogue={catalogue} />}
      sort={{ field: sorted ? 'id' : '', order: 'ASC' }}
      perPage={25}
      pagination={<Pagination rowsPerPageOptions={[10, 25, 50, 100]} />}
      exporter={false}
      empty={false}
    >
      <FilterBar resource={resource} />
      <Rows resource={resource} catalogue={catalogue} />
    </List>
  )
}

const COLUMNS = 8

function Rows({ resource, catalogue }: EntityListProps): ReactElement {
  const isPhone = useMediaQuery((theme: Theme) => theme.breakpoints.down('md'))
  const click = catalogue.allows(resource.name, 'get') ? 'show' : false
  if (isPhone) {
    const others = listedProperties(resource, 5).filter(({ name }) => name !== resource.label && name !== 'id')
    const type = resource.properties.find(({ name }) => name === resource.label)?.type ?? 'string'
    return (
      <SimpleList
        linkType={click}
        rowClick={click}
        primaryText={(row: Row) => valueText(row[resource.label], type)}
        secondaryText={(row: Row) =>
          others.map((one) => `${inWords(one.name)}: ${valueText(row[one.name], one.type)}`).join(', ')
        }
      />
    )
  }
  return (
    <Datagrid rowClick={click} size="small" bulkActionButtons={false} sx={{ overflowX: 'auto' }}>
      {listedProperties(resource, COLUMNS).map((property) => fieldOf(property, resource, catalogue))}
    </Datagrid>
  )
}

function ListActions({ resource, catalogue }: EntityListProps): ReactElement {
  return (
    <TopToolbar>
      {catalogue.allows(resource.name, 'create') && <CreateButton />}
      {catalogue.allows(resource.name, 'export') && <ExportButton name={resource.name} />}
    </TopToolbar>
  )
}

/** What of the list is exported, which react-admin does not type. */
interface Shown {
  readonly filterValues: object
  readonly sort: SortPayload
}

/** Saves the rows that the list shows, those of all its pages, as a file. */
function ExportButton({ name }: { readonly name: string }): ReactElement {
  const { filterValues, sort } = useListContext() as Shown
  const provider = useDataProvider<AdminDataProvider>()
  const notify = useNotify()
  const run = async (): Promise<void> => {
    try {
      const exported = await provider.exportCsv(name, { filter: filterValues, sort })
      await saveExport(exported)
      if (exported.isTruncated === true) {
        notify(`The file has the first ${exported.rowLimit} rows; there are more. Filter the list.`, {
          type: 'warning'
        })
      }
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error), { type: 'error' })
    }
  }
  return (
    <Button size="small" onClick={() => void run()}>
      Export
    </Button>
  )
}
