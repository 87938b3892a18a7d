import { Button, useMediaQuery, type Theme } from '@mui/material'
import type { ReactElement } from 'react'
import {
  CreateButton,
  Datagrid,
  FunctionField,
  List,
  Pagination,
  SimpleList,
  type SortPayload,
  TopToolbar,
  useDataProvider,
  useListContext,
  useListParams,
  useNotify
} from 'react-admin'
import { type Catalogue, type Resource, type Row } from './catalogue.js'
import { fieldOf, listedProperties } from './fields.js'
import { FilterBar } from './filters.js'
import { ImportButton } from './import.js'
import { type AdminDataProvider, CHOSEN_OWNER, isOwnerChosen, OwnerChoice } from './owner.js'
import { PageSelection, SelectionBar, SelectionField } from './selection.js'
import { inWords, valueText } from './words.js'

interface EntityListProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

const PAGE_SIZE = 25

function firstSort({ properties }: Resource): SortPayload {
  return { field: properties.some(({ name, sortable }) => name === 'id' && sortable) ? 'id' : '', order: 'ASC' }
}

/** The list of a resource, which is asked for when it is clear whose rows are meant. */
export function EntityList(of: EntityListProps): ReactElement {
  return isOwnerChosen(of.resource, of.catalogue) ? <ListOfOwner {...of} /> : <ShownList {...of} />
}

function ListOfOwner(of: EntityListProps): ReactElement {
  const { resource } = of
  // The parameters that the list itself will have.
  const [{ filterValues }, { setFilters }] = useListParams({
    resource: resource.name,
    sort: firstSort(resource),
    perPage: PAGE_SIZE
  })
  const filter = filterValues as Readonly<Record<string, unknown>>
  if (CHOSEN_OWNER in filter) return <ShownList {...of} />
  return <OwnerChoice {...of} onChoose={(owner) => setFilters({ ...filter, [CHOSEN_OWNER]: owner })} />
}

/** A table, or on a phone one line for each row. */
function ShownList({ resource, catalogue }: EntityListProps): ReactElement {
  return (
    <List
      title={inWords(resource.name)}
      actions={<ListActions resource={resource} catalogue={catalogue} />}
      sort={firstSort(resource)}
      perPage={PAGE_SIZE}
      pagination={<Pagination rowsPerPageOptions={[10, PAGE_SIZE, 50, 100]} />}
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
    const listed = listedProperties(resource, 5)
    const label = resource.properties.find(({ name }) => name === resource.label) ?? listed[0]
    const others = listed.filter(({ name }) => name !== label?.name && name !== 'id')
    return (
      <SimpleList
        linkType={click}
        rowClick={click}
        primaryText={(row: Row) => valueText(row[label?.name ?? ''], label?.type ?? 'string')}
        secondaryText={(row: Row) =>
          others.map((one) => `${inWords(one.name)}: ${valueText(row[one.name], one.type)}`).join(', ')
        }
      />
    )
  }
  const of = { resource, catalogue }
  const isSelected = ['update', 'delete'].some((write) => catalogue.allows(resource.name, write))
  return (
    <>
      <Datagrid rowClick={click} size="small" bulkActionButtons={false} sx={{ overflowX: 'auto' }}>
        {isSelected && (
          <FunctionField label={<PageSelection {...of} />} sortable={false} render={() => <SelectionField {...of} />} />
        )}
        {listedProperties(resource, COLUMNS).map((property) => fieldOf(property, resource, catalogue))}
      </Datagrid>
      {isSelected && <SelectionBar {...of} />}
    </>
  )
}

function ListActions({ resource, catalogue }: EntityListProps): ReactElement {
  return (
    <TopToolbar>
      {catalogue.allows(resource.name, 'create') && <CreateButton />}
      {catalogue.allows(resource.name, 'import') && <ImportButton resource={resource} />}
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

interface Exported {
  readonly fileName: string
  file(): ReadableStream<Uint8Array>
}

/** Lets the browser save an export under the name that the service gave it. Rejects where it broke off. */
async function saveExport(exported: Exported): Promise<void> {
  const blob = await new Response(exported.file()).blob()
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = exported.fileName
  link.click()
  URL.revokeObjectURL(link.href)
}
