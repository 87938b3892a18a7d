import { Alert, Button, useMediaQuery, type Theme } from '@mui/material'
import { Fragment, type MouseEvent, type ReactElement } from 'react'
import {
  CreateButton,
  Datagrid,
  FunctionField,
  Link,
  List,
  Pagination,
  SimpleList,
  type SortPayload,
  TopToolbar,
  useCreatePath,
  useDataProvider,
  useListContext,
  useListParams,
  useNotify,
  useRecordContext
} from 'react-admin'
import { type Catalogue, type Property, type Resource, type Row, titleOf } from './catalogue.js'
import { chosenColumns } from './columns.js'
import { ColumnsButton } from './columns-button.js'
import { fieldOf } from './fields.js'
import type { ListFilter } from './filter-conditions.js'
import { FilterBar } from './filters.js'
import { ImportButton } from './import.js'
import { type AdminDataProvider, CHOSEN_OWNER, isOwnerChosen, OwnerChoice } from './owner.js'
import { labelText } from './labels.js'
import { ReferenceName } from './references.js'
import { PageSelection, SelectionBar, SelectionField } from './selection.js'
import { valueText } from './words.js'

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
      title={titleOf(resource)}
      actions={<ListActions resource={resource} catalogue={catalogue} />}
      sort={firstSort(resource)}
      perPage={PAGE_SIZE}
      pagination={<Pages />}
      exporter={false}
      empty={false}
    >
      <FilterBar resource={resource} catalogue={catalogue} />
      <Rows resource={resource} catalogue={catalogue} />
    </List>
  )
}

/** No pages where the service has rejected the list: there is an error in their place. */
function Pages(): ReactElement | null {
  const { error } = useListContext() as Shown
  return isThere(error) ? null : <Pagination rowsPerPageOptions={[10, PAGE_SIZE, 50, 100]} />
}

function isThere(error: Shown['error']): error is Error {
  return error !== null && error !== undefined
}

function Rows(of: EntityListProps): ReactElement {
  const { resource, catalogue } = of
  const isPhone = useMediaQuery((theme: Theme) => theme.breakpoints.down('md'))
  const { error, filterValues } = useListContext() as Shown
  const click = catalogue.allows(resource.name, 'get') ? 'show' : false
  const columns = chosenColumns(resource, filterValues, isPhone)
  if (isThere(error)) return <Alert severity="error">{error.message}</Alert>
  if (isPhone) {
    const others = columns.filter(({ name }) => name !== resource.label && name !== 'id')
    return (
      <SimpleList
        linkType={click}
        rowClick={click}
        primaryText={(row: Row) => labelText(row, resource)}
        secondaryText={(row: Row) =>
          others.map((one, at) => (
            <Fragment key={one.name}>
              {at > 0 && ', '}
              {catalogue.labelOf(resource, one)}: <PlainValue row={row} property={one} {...of} />
            </Fragment>
          ))
        }
      />
    )
  }
  const opening = click === false ? undefined : (columns.find(({ name }) => name === resource.label) ?? columns[0])
  const isSelected = ['update', 'delete'].some((write) => catalogue.allows(resource.name, write))
  return (
    <>
      <Datagrid rowClick={click} size="small" bulkActionButtons={false} sx={{ overflowX: 'auto' }}>
        {isSelected && (
          <FunctionField label={<PageSelection {...of} />} sortable={false} render={() => <SelectionField {...of} />} />
        )}
        {columns.map((property) =>
          property === opening ? (
            <FunctionField
              key={property.name}
              source={property.name}
              label={catalogue.labelOf(resource, property)}
              sortable={property.sortable}
              render={() => <RowLink property={property} {...of} />}
            />
          ) : (
            fieldOf(property, resource, catalogue)
          )
        )}
      </Datagrid>
      {isSelected && <SelectionBar {...of} />}
    </>
  )
}

interface ValueProps extends EntityListProps {
  readonly property: Property
}

/** A value as text, with the name of the row that it refers to and without a link. */
function PlainValue({ property, resource, catalogue, row }: ValueProps & { readonly row: Row }): ReactElement {
  const target = catalogue.referenceOf(resource, property)
  const value = row[property.name]
  return target === undefined ? <>{valueText(value, property.type)}</> : <ReferenceName target={target} value={value} />
}

/** Opens the row, by keyboard too, which a click on the row does not. */
function RowLink(of: ValueProps): ReactElement | null {
  const row = useRecordContext()
  const pathOf = useCreatePath()
  if (row === undefined) return null
  const to = pathOf({ resource: of.resource.name, type: 'show', id: row.id })
  return (
    <Link to={to} onClick={(event: MouseEvent) => event.stopPropagation()}>
      <PlainValue row={row} {...of} />
    </Link>
  )
}

function ListActions({ resource, catalogue }: EntityListProps): ReactElement {
  return (
    <TopToolbar>
      <ColumnsButton resource={resource} catalogue={catalogue} />
      {catalogue.allows(resource.name, 'create') && <CreateButton />}
      {catalogue.allows(resource.name, 'import') && <ImportButton resource={resource} />}
      {catalogue.allows(resource.name, 'export') && <ExportButton name={resource.name} />}
    </TopToolbar>
  )
}

/** What is used here of the context of a list, which react-admin does not type. */
interface Shown {
  readonly error?: Error | null
  readonly filterValues: ListFilter
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
