import {
  Box,
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  List,
  ListItem,
  ListItemText,
  MenuItem,
  TextField
} from '@mui/material'
import { type ReactElement, useState } from 'react'
import {
  Form,
  FormDataConsumer,
  type Identifier,
  type RaRecord,
  SaveButton,
  useDataProvider,
  useListContext,
  useNotify
} from 'react-admin'
import { type Catalogue, nameOf, type Property, type Resource, type Row, settableProperties } from './catalogue.js'
import { conflictOf, errorsOf } from './conflict.js'
import { CheckButton } from './forms.js'
import { inputOf } from './inputs.js'
import type { AdminDataProvider } from './owner.js'

export type BulkWrite = 'change' | 'delete'

const WORDS = {
  change: { title: 'Change', done: 'changed', batch: 'updateBatch', color: 'primary' },
  delete: { title: 'Delete', done: 'deleted', batch: 'deleteBatch', color: 'error' }
} as const

interface BulkDialogProps {
  readonly write: BulkWrite
  readonly resource: Resource
  readonly catalogue: Catalogue
  /** As they were shown when the dialog was opened. Their versions are sent. */
  readonly rows: readonly RaRecord[]
  readonly onClose: () => void
}

/** What came of a write, or of its check. */
interface Outcome {
  readonly isCheck: boolean
  /** What the rows were to get. */
  readonly changes: string
  /** Whether an error leaves open what was written. */
  readonly isOpen: boolean
  readonly done: readonly Identifier[]
  /** Rows that stand in the way, and why. */
  readonly rejected: readonly { readonly id: Identifier; readonly reason: string }[]
}

/**
 * Asks, and changes or deletes all rows or none, where the resource takes batches. Where some stand in the way it says which
 * and why, and can leave them out.
 */
export function BulkDialog({ write, resource, catalogue, rows, onClose }: BulkDialogProps): ReactElement {
  const { title, done, batch, color } = WORDS[write]
  const provider = useDataProvider<AdminDataProvider>()
  const notify = useNotify()
  const { onSelect, refetch } = useListContext() as Pick<Selection, 'onSelect' | 'refetch'>
  const [meant, setMeant] = useState(rows)
  const [outcome, setOutcome] = useState<Outcome>()
  const [chosen, setChosen] = useState<readonly Property[]>([])
  const leave = (): void => {
    onClose()
    refetch()
  }
  const run = async (values: Row, isCheck: boolean): Promise<object> => {
    const many = { ids: meant.map(({ id }) => id), meta: { seen: meant, dryRun: isCheck } }
    const data = changesOf(values, chosen)
    const of = { isCheck, changes: JSON.stringify(data) }
    try {
      if (write === 'delete') await provider.deleteMany(resource.name, many)
      else await provider.updateMany(resource.name, { ...many, data })
    } catch (error) {
      setOutcome({ ...of, ...rejectedRows(error, meant) })
      return errorsOf(firstOf(error))
    }
    if (isCheck) setOutcome({ ...of, isOpen: false, done: many.ids, rejected: [] })
    else {
      notify(`${counted(meant.length)} ${done}`, { type: 'success' })
      onSelect(rows.filter((row) => !meant.includes(row)).map(({ id }) => id))
      leave()
    }
    return {}
  }
  const leaveOut = ({ done: written, rejected }: Outcome): void => {
    const out = new Set([...written, ...rejected.map(({ id }) => id)])
    setMeant(meant.filter(({ id }) => !out.has(id)))
    setOutcome(undefined)
  }
  const takesBatches = catalogue.allows(resource.name, batch)
  // What a check says is of the values that were checked.
  const isShown = ({ isCheck, changes }: Outcome, values: Row): boolean =>
    !isCheck || changes === JSON.stringify(changesOf(values, chosen))
  const isReady = meant.length > 0 && (write === 'delete' || chosen.length > 0)
  return (
    <Dialog open onClose={leave} fullWidth maxWidth="sm" aria-labelledby="bulk-title">
      <Form record={{}} onSubmit={(values: Row) => run(values, false)} resetOptions={{ keepValues: true }}>
        <DialogTitle id="bulk-title">
          {title} {counted(meant.length)}
        </DialogTitle>
        <DialogContent>
          <DialogContentText>
            {takesBatches
              ? `All of them are ${done}, or none. A row that somebody else has changed meanwhile stops it.`
              : `They are ${done} one after the other. A row that somebody else has changed meanwhile is left as it is.`}
          </DialogContentText>
          {write === 'change' && <ChangedFields {...{ resource, catalogue, chosen }} onChoose={setChosen} />}
          {outcome !== undefined && (
            <FormDataConsumer>
              {({ formData }) =>
                isShown(outcome, formData) && (
                  <OutcomeText {...{ write, resource, outcome }} rows={meant} onLeaveOut={() => leaveOut(outcome)} />
                )
              }
            </FormDataConsumer>
          )}
        </DialogContent>
        <DialogActions>
          <Button onClick={leave}>Cancel</Button>
          {takesBatches && <CheckButton disabled={!isReady} check={(values) => run(values, true)} />}
          <SaveButton label={title} color={color} alwaysEnable={isReady} disabled={!isReady} icon={<></>} />
        </DialogActions>
      </Form>
    </Dialog>
  )
}

/** What is used here of the context of a list, which react-admin does not type. */
interface Selection {
  readonly onSelect: (ids: Identifier[]) => void
  readonly refetch: () => unknown
}

interface ChangedFieldsProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
  readonly chosen: readonly Property[]
  readonly onChoose: (chosen: readonly Property[]) => void
}

/**
 * Which fields are changed, and to what. A value that must be unique is not offered: only one row could have it. Nor is JSON,
 * which a patch would merge into that of each row.
 */
function ChangedFields({ resource, catalogue, chosen, onChoose }: ChangedFieldsProps): ReactElement {
  const offered = settableProperties(resource, 'setOnUpdate').filter(({ unique, type }) => !unique && type !== 'json')
  return (
    <>
      <TextField
        select
        fullWidth
        label="Fields to change"
        value={chosen.map(({ name }) => name)}
        onChange={({ target }) => onChoose(offered.filter(({ name }) => target.value.includes(name)))}
        slotProps={{ select: { multiple: true } }}
        sx={{ mt: 1 }}
      >
        {offered.map((property) => (
          <MenuItem key={property.name} value={property.name}>
            {catalogue.labelOf(resource, property)}
          </MenuItem>
        ))}
      </TextField>
      {chosen.map((property) =>
        inputOf(property, { isRequired: !property.nullable, of: { owner: resource, catalogue } })
      )}
    </>
  )
}

/** A field that is chosen and left empty is emptied. */
function changesOf(values: Row, chosen: readonly Property[]): Row {
  return Object.fromEntries(
    chosen.map(({ name, type, nullable }) => [name, values[name] ?? (type === 'bool' && !nullable ? false : null)])
  )
}

interface OutcomeTextProps {
  readonly write: BulkWrite
  readonly resource: Resource
  readonly rows: readonly RaRecord[]
  readonly outcome: Outcome
  readonly onLeaveOut: () => void
}

function OutcomeText({ write, resource, rows, outcome, onLeaveOut }: OutcomeTextProps): ReactElement {
  const { isCheck, isOpen, done, rejected } = outcome
  const all = counted(rows.length)
  if (rejected.length === 0) {
    return (
      <DialogContentText role="status" sx={{ mt: 2 }}>
        {all} would be {WORDS[write].done}. Nothing was {WORDS[write].done} yet.
      </DialogContentText>
    )
  }
  const reasons = new Map<string, Row[]>()
  for (const { id, reason } of rejected) {
    reasons.set(reason, [...(reasons.get(reason) ?? []), ...rows.filter((row) => row.id === id)])
  }
  return (
    <Box role="alert" sx={{ mt: 2 }}>
      <DialogContentText>
        {isOpen && !isCheck
          ? `It is not known whether all of ${all} were ${WORDS[write].done}:`
          : `${done.length} of ${all} ${isCheck ? 'would be' : 'were'} ${WORDS[write].done}. In the way:`}
      </DialogContentText>
      <List dense disablePadding>
        {Array.from(reasons, ([reason, of]) => (
          <ListItem key={reason} disableGutters>
            <ListItemText primary={of.map((row) => nameOf(row, resource)).join(', ')} secondary={reason} />
          </ListItem>
        ))}
      </List>
      {done.length + rejected.length < rows.length && <Button onClick={onLeaveOut}>Leave these out</Button>}
    </Box>
  )
}

function counted(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`
}

/** What an error of `updateMany` and `deleteMany` tells of the rows (ManyError of the data provider). */
interface Failures {
  readonly done: readonly Identifier[]
  readonly failed: readonly { readonly id: Identifier; readonly error: unknown }[]
}

function failuresOf(error: unknown): Failures | undefined {
  return error instanceof Error && error.name === 'ManyError' ? (error as Error & Failures) : undefined
}

function firstOf(error: unknown): unknown {
  return failuresOf(error)?.failed[0]?.error
}

function rejectedRows(error: unknown, rows: readonly RaRecord[]): Pick<Outcome, 'isOpen' | 'done' | 'rejected'> {
  const { done, failed } = failuresOf(error) ?? { done: [], failed: rows.map(({ id }) => ({ id, error })) }
  const isOpen = failed.some((one) => isOutcomeOpen(one.error))
  return { isOpen, done, rejected: failed.map((one) => ({ id: one.id, reason: reasonOf(one.error) })) }
}

/** Whether the service may have done what was asked: the connection was lost, or it failed. */
function isOutcomeOpen(error: unknown): boolean {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 0
  return status === 0 || status >= 500
}

function reasonOf(error: unknown): string {
  const conflict = conflictOf(error)
  if (conflict?.current === null) return 'Somebody else has deleted it.'
  if (conflict?.isStale === true) return 'Somebody else has changed it since it was shown here.'
  return error instanceof Error ? error.message : String(error)
}
