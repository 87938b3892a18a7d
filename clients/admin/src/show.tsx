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
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import {
  EditButton,
  Labeled,
  RecordContextProvider,
  Show,
  TopToolbar,
  useDataProvider,
  useRecordContext
} from 'react-admin'
import { ActionButtons } from './actions.js'
import { DeleteButton } from './delete-button.js'
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
  const withChanges = catalogue.allows(resource.name, 'history')
  return (
    <Show
      actions={<ShowActions resource={resource} catalogue={catalogue} />}
      queryOptions={{ meta: { includeChildren: children.length > 0 } }}
    >
      {/* Wide tables are scrolled by themselves, and make no page wider than a phone. */}
      <Box sx={{ p: 2, contain: 'inline-size' }}>
        <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: 'repeat(auto-fill, minmax(14rem, 1fr))' }}>
          {shownProperties(resource).map((property) => (
            <Labeled key={property.name} label={catalogue.labelOf(resource, property)}>
              {fieldOf(property, resource, catalogue)}
            </Labeled>
          ))}
        </Box>
        {children.map((navigation) => (
          <ChildTable key={navigation.name} navigation={navigation} catalogue={catalogue} />
        ))}
        {(withChanges || catalogue.allows('audit-entries', 'paged')) && (
          <History resource={resource} withChanges={withChanges} />
        )}
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
      {mayDelete && <DeleteButton resource={resource} />}
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
  // Rows of another resource have its references, children their own.
  const owner = navigation.properties.length > 0 ? navigation : (catalogue.find(navigation.resource) ?? navigation)
  const properties = shownProperties(owner)
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
                {properties.map((property) => (
                  <TableCell key={property.name}>{catalogue.labelOf(owner, property)}</TableCell>
                ))}
              </TableRow>
            </TableHead>
            <TableBody>
              {children.map((child, at) => (
                <TableRow key={valueText(child['id'] ?? at, 'string')}>
                  <RecordContextProvider value={child}>
                    {properties.map((property) => (
                      <TableCell key={property.name}>{fieldOf(property, owner, catalogue)}</TableCell>
                    ))}
                  </RecordContextProvider>
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

/** What a row had and has of each property that a write changed. */
function ChangeList({ changes, resource }: { readonly changes: Changes; readonly resource: Resource }): ReactElement {
  return (
    <Box component="ul" sx={{ m: 0, pl: 2 }}>
      {Object.entries(changes).map(([name, { before, after, omitted } = {}]) => {
        const type = resource.properties.find((one) => one.name === name)?.type ?? 'string'
        const text =
          omitted === true ? 'changed, too long to be shown' : `${valueText(before, type)} → ${valueText(after, type)}`
        return (
          <Typography component="li" variant="body2" key={name}>
            {inWords(name)}: {text}
          </Typography>
        )
      })}
    </Box>
  )
}

interface Changed {
  readonly before?: unknown
  readonly after?: unknown
  readonly omitted?: boolean
}

type Changes = Readonly<Record<string, Changed | undefined>>

/** An entry of the audit trail. Its subject is absent for those who may not read that. */
interface Entry {
  readonly id: string
  readonly at: string
  readonly action: string
  readonly subject?: string
  readonly changes?: Changes
}

/** What was done with the row and when: with what it changed where the resource has a history, otherwise out of the audit trail. */
function History({
  resource,
  withChanges
}: {
  readonly resource: Resource
  readonly withChanges: boolean
}): ReactElement {
  const row = useRecordContext()
  const provider = useDataProvider<AdminDataProvider>()
  const id = row?.id ?? ''
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    // The version is a part of the key: what is written here is shown at once.
    queryKey: [resource.name, 'history', id, row?.['rowVersion']],
    initialPageParam: '',
    queryFn: async ({ pageParam, signal }): Promise<{ readonly entries: readonly Entry[]; readonly next?: string }> => {
      if (withChanges) {
        const after = pageParam === '' ? {} : { after: pageParam }
        const { entries, nextCursor } = await provider.getChanges(resource.name, {
          id,
          pageSize: SHOWN,
          signal,
          ...after
        })
        return { entries, ...(nextCursor === undefined ? {} : { next: nextCursor }) }
      }
      const page = Number(pageParam || '1')
      const found = await provider.history(resource.name, { id, pagination: { page, perPage: SHOWN }, signal })
      return { entries: found.data, ...(page * SHOWN < found.total ? { next: String(page + 1) } : {}) }
    },
    getNextPageParam: ({ next }) => next,
    enabled: row !== undefined
  })
  const entries = data?.pages.flatMap((page) => page.entries)
  return (
    <Box component="section" aria-label="History" sx={{ mt: 3 }}>
      <Typography variant="h6" component="h2">
        History
      </Typography>
      {error !== null && <Typography role="alert">{error.message}</Typography>}
      {entries?.length === 0 && <Typography>No changes recorded yet.</Typography>}
      <List dense disablePadding>
        {entries?.map(({ id: key, action, at, subject, changes = {} }) => (
          <ListItem key={key} disableGutters sx={{ display: 'block' }}>
            <ListItemText primary={`${inWords(action)}, ${valueText(at, 'dateTime')}`} secondary={subject} />
            <ChangeList changes={changes} resource={resource} />
          </ListItem>
        ))}
      </List>
      {hasNextPage && <Button onClick={() => void fetchNextPage()}>Show more</Button>}
    </Box>
  )
}
