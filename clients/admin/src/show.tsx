import {
  Box,
  Button,
  List,
  ListItem,
  ListItemText,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import {
  DeleteWithConfirmButton,
  EditButton,
  Labeled,
  Show,
  TopToolbar,
  useDataProvider,
  useRecordContext
} from 'react-admin'
import { ActionButtons } from './actions.js'
import {
  type Catalogue,
  childrenOf,
  isInState,
  type Navigation,
  type Resource,
  type Row,
  shownProperties
} from './catalogue.js'
import { fieldOf } from './fields.js'
import type { AdminDataProvider } from './owner.js'
import { inWords, valueText } from './words.js'

interface EntityShowProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

/** One row: its properties, its children, what can be done with it, and what was. */
export function EntityShow({ resource, catalogue }: EntityShowProps): ReactElement {
  const children = childrenOf(resource)
  return (
    <Show
      actions={<ShowActions resource={resource} catalogue={catalogue} />}
      queryOptions={{ meta: { includeChildren: children.length > 0 } }}
    >
      {/* Wide tables are scrolled by themselves, and make no page wider than a phone. */}
      <Box sx={{ p: 2, contain: 'inline-size' }}>
        <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: 'repeat(auto-fill, minmax(14rem, 1fr))' }}>
          {shownProperties(resource).map((property) => (
            <Labeled key={property.name} label={inWords(property.name)}>
              {fieldOf(property, resource, catalogue)}
            </Labeled>
          ))}
        </Box>
        {children.map((navigation) => (
          <ChildTable key={navigation.name} navigation={navigation} catalogue={catalogue} />
        ))}
        {catalogue.allows('audit-entries', 'paged') && <History resource={resource.name} />}
      </Box>
    </Show>
  )
}

function ShowActions({ resource, catalogue }: EntityShowProps): ReactElement {
  const row = useRecordContext()
  if (row === undefined) return <TopToolbar />
  const mayDelete = catalogue.allows(resource.name, 'delete') && isInState(row, resource.deleteStates)
  return (
    <TopToolbar sx={{ flexWrap: 'wrap' }}>
      <ActionButtons resource={resource} catalogue={catalogue} />
      {catalogue.allows(resource.name, 'update') && <EditButton />}
      {mayDelete && <DeleteWithConfirmButton mutationMode="pessimistic" />}
    </TopToolbar>
  )
}

/** The children of a row, or the rows of another resource that links lead to. */
function ChildTable({
  navigation,
  catalogue
}: {
  readonly navigation: Navigation
  readonly catalogue: Catalogue
}): ReactElement | null {
  const row = useRecordContext()
  const children = (row?.[navigation.name] ?? []) as readonly Row[]
  const properties = shownProperties(
    navigation.properties.length > 0 ? navigation : (catalogue.find(navigation.resource) ?? navigation)
  )
  const title = inWords(navigation.name)
  return (
    <Box component="section" sx={{ mt: 3 }} aria-label={title}>
      <Typography variant="h6" component="h2">
        {title}
      </Typography>
      {children.length === 0 ? (
        <Typography>None</Typography>
      ) : (
        <TableContainer tabIndex={0} role="group" aria-label={title}>
          <Table size="small">
            <TableHead>
              <TableRow>
                {properties.map(({ name }) => (
                  <TableCell key={name}>{inWords(name)}</TableCell>
                ))}
              </TableRow>
            </TableHead>
            <TableBody>
              {children.map((child, at) => (
                <TableRow key={valueText(child['id'] ?? at, 'string')}>
                  {properties.map(({ name, type }) => (
                    <TableCell key={name}>{valueText(child[name], type)}</TableCell>
                  ))}
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </TableContainer>
      )}
    </Box>
  )
}

const SHOWN = 20

/** Who wrote the row and when, out of the audit trail. */
function History({ resource }: { readonly resource: string }): ReactElement {
  const row = useRecordContext()
  const provider = useDataProvider<AdminDataProvider>()
  const [page, setPage] = useState(1)
  const id = row?.id
  const { data, error } = useQuery({
    // The version is a part of the key: what is written here is shown at once.
    queryKey: [resource, 'history', id, row?.['rowVersion'], page],
    queryFn: ({ signal }) =>
      provider.history(resource, { id: id ?? '', pagination: { page: 1, perPage: page * SHOWN }, signal }),
    enabled: id !== undefined
  })
  return (
    <Box component="section" aria-label="History" sx={{ mt: 3 }}>
      <Typography variant="h6" component="h2">
        History
      </Typography>
      {error !== null && <Typography role="alert">{error.message}</Typography>}
      {data?.data.length === 0 && <Typography>Nothing was written since the trail began.</Typography>}
      <List dense disablePadding>
        {data?.data.map((entry) => (
          <ListItem key={entry.id} disableGutters>
            <ListItemText
              primary={`${inWords(entry.action)}, ${valueText(entry.at, 'dateTime')}`}
              secondary={entry.subject}
            />
          </ListItem>
        ))}
      </List>
      {data !== undefined && data.data.length < data.total && (
        <Button onClick={() => setPage(page + 1)}>Show more</Button>
      )}
    </Box>
  )
}
