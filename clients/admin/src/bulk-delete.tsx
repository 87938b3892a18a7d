import {
  Box,
  Button,
  Checkbox,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  List,
  ListItem,
  ListItemText,
  Typography
} from '@mui/material'
import { type ReactElement, useEffect, useState } from 'react'
import {
  type Identifier,
  type RaRecord,
  useDataProvider,
  useListContext,
  useNotify,
  useRecordContext
} from 'react-admin'
import { isInState, type Resource, type Row } from './catalogue.js'
import { conflictOf } from './conflict.js'
import type { AdminDataProvider } from './owner.js'
import { valueText } from './words.js'

/** What is used here of the context of a list, which react-admin does not type. */
interface Selection {
  readonly data?: readonly RaRecord[]
  readonly selectedIds: readonly Identifier[]
  readonly onSelect: (ids: Identifier[]) => void
  readonly onToggleItem: (id: Identifier) => void
  readonly refetch: () => unknown
}

const useSelection = (): Selection => useListContext() as Selection

interface OfResource {
  readonly resource: Resource
}

/** The rows of a list that may be deleted, as far as the entity file says in which states. */
function deletable(rows: readonly RaRecord[], { deleteStates }: Resource): readonly RaRecord[] {
  return rows.filter((row) => isInState(row, deleteStates))
}

/**
 * The box of a row in a column of its own. The boxes of react-admin's table have their name at an element around the input,
 * where nobody who goes by names finds it (docs/decisions/046).
 */
export function SelectionField({ resource }: OfResource): ReactElement | null {
  const row = useRecordContext()
  const { selectedIds, onToggleItem } = useSelection()
  if (row === undefined) return null
  return (
    <Checkbox
      size="small"
      checked={selectedIds.includes(row.id)}
      disabled={deletable([row], resource).length === 0}
      onChange={() => onToggleItem(row.id)}
      // A click on the row opens it.
      onClick={(event) => event.stopPropagation()}
      slotProps={{ input: { 'aria-label': `Select ${nameOf(row, resource)}` } }}
    />
  )
}

/** The box above them, for all rows of the page. */
export function PageSelection({ resource }: OfResource): ReactElement {
  const { data = [], selectedIds, onSelect } = useSelection()
  const ids = deletable(data, resource).map(({ id }) => id)
  const isWhole = ids.length > 0 && ids.every((id) => selectedIds.includes(id))
  return (
    <Checkbox
      size="small"
      checked={isWhole}
      disabled={ids.length === 0}
      onChange={() => onSelect(isWhole ? [] : ids)}
      slotProps={{ input: { 'aria-label': 'Select all rows of this page' } }}
    />
  )
}

/** Below the table, where it moves no row from under the pointer, and always in view. */
const BAR = {
  display: 'flex',
  gap: 1,
  alignItems: 'center',
  p: 1,
  position: 'sticky',
  bottom: 0,
  zIndex: 1,
  bgcolor: 'background.paper',
  borderTop: 1,
  borderColor: 'divider'
} as const

/** What can be done with the rows that are selected. Only rows that are shown are: who turns the page selects anew. */
export function SelectionBar({ resource }: OfResource): ReactElement | null {
  const { data, selectedIds, onSelect } = useSelection()
  const [asked, setAsked] = useState<readonly RaRecord[]>()
  const rows = (data ?? []).filter(({ id }) => selectedIds.includes(id))
  useEffect(() => {
    if (data !== undefined && rows.length < selectedIds.length) onSelect(rows.map(({ id }) => id))
  }, [data, rows, selectedIds, onSelect])
  if (rows.length === 0 && asked === undefined) return null
  return (
    <Box role="group" aria-label="Selected rows" sx={BAR}>
      <Typography>{rows.length} selected</Typography>
      <Button size="small" color="error" onClick={() => setAsked(rows)}>
        Delete selected
      </Button>
      <Button size="small" onClick={() => onSelect([])}>
        Clear selection
      </Button>
      {asked !== undefined && <DeleteDialog resource={resource} rows={asked} onClose={() => setAsked(undefined)} />}
    </Box>
  )
}

/** A row that is still there, and why. */
interface Kept {
  readonly id: Identifier
  readonly reason: string
}

interface DeleteDialogProps extends OfResource {
  /** As they were shown when the dialog was opened. Their versions are sent. */
  readonly rows: readonly RaRecord[]
  readonly onClose: () => void
}

/** Asks, deletes the rows one by one, and says which are still there and why. */
function DeleteDialog({ resource, rows, onClose }: DeleteDialogProps): ReactElement {
  const provider = useDataProvider<AdminDataProvider>()
  const notify = useNotify()
  const { onSelect, refetch } = useSelection()
  const [isBusy, setBusy] = useState(false)
  const [kept, setKept] = useState<readonly Kept[]>()
  const leave = (left: readonly Kept[]): void => {
    onSelect(left.map(({ id }) => id))
    onClose()
    refetch()
  }
  const run = async (): Promise<void> => {
    setBusy(true)
    try {
      await provider.deleteMany(resource.name, { ids: rows.map(({ id }) => id), meta: { seen: rows } })
      notify(`${counted(rows.length)} deleted`, { type: 'success' })
      leave([])
    } catch (error) {
      setKept(keptRows(error, rows))
    }
  }
  if (kept === undefined) {
    return (
      <Dialog open onClose={onClose} aria-labelledby="delete-title">
        <DialogTitle id="delete-title">Delete {counted(rows.length)}?</DialogTitle>
        <DialogContent>
          <DialogContentText>A row that somebody else has changed meanwhile is not deleted.</DialogContentText>
        </DialogContent>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button color="error" disabled={isBusy} onClick={() => void run()}>
            Delete
          </Button>
        </DialogActions>
      </Dialog>
    )
  }
  return (
    <Dialog open onClose={() => leave(kept)} fullWidth maxWidth="sm" aria-labelledby="kept-title">
      <DialogTitle id="kept-title">
        {rows.length - kept.length} of {counted(rows.length)} deleted
      </DialogTitle>
      <DialogContent>
        <DialogContentText>These are still there:</DialogContentText>
        <List dense>
          {rows.flatMap((row) => {
            const reason = kept.find(({ id }) => id === row.id)?.reason
            return reason === undefined
              ? []
              : [
                  <ListItem key={row.id} disableGutters>
                    <ListItemText primary={nameOf(row, resource)} secondary={reason} />
                  </ListItem>
                ]
          })}
        </List>
      </DialogContent>
      <DialogActions>
        <Button onClick={() => leave(kept)}>Close</Button>
      </DialogActions>
    </Dialog>
  )
}

function counted(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`
}

/** The id of a row, and its name where it has another. */
function nameOf(row: Row, { label }: Resource): string {
  const [id, name] = [row['id'], row[label]].map((value) => valueText(value, 'string'))
  return name === undefined || label === 'id' ? String(id) : `${id}: ${name}`
}

/** What an error of `deleteMany` tells of the rows (ManyError of the data provider). */
interface Failures {
  readonly failed: readonly { readonly id: Identifier; readonly error: unknown }[]
  readonly untried: readonly Identifier[]
}

function keptRows(error: unknown, rows: readonly RaRecord[]): readonly Kept[] {
  if (!(error instanceof Error) || error.name !== 'ManyError') {
    return rows.map(({ id }) => ({ id, reason: reasonOf(error) }))
  }
  const { failed, untried } = error as Error & Failures
  return [
    ...failed.map((one) => ({ id: one.id, reason: reasonOf(one.error) })),
    ...untried.map((id) => ({ id, reason: 'It was not tried.' }))
  ]
}

function reasonOf(error: unknown): string {
  const conflict = conflictOf(error)
  if (conflict?.current === null) return 'Somebody else has deleted it.'
  if (conflict?.isStale === true) return 'Somebody else has changed it since it was shown here.'
  return error instanceof Error ? error.message : String(error)
}
