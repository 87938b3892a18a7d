import {
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  Radio,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow
} from '@mui/material'
import { type ReactElement, useState } from 'react'
import { childrenOf, type Resource, type Row, shownProperties } from './catalogue.js'
import { childText, inWords, valueText } from './words.js'

/** The sides of a write that came too late, as errors of the data provider have them. */
export interface Conflict {
  /** What was sent; undefined where nothing but an action was. */
  readonly sent: Row | undefined
  /** The row as the user saw it. */
  readonly base: Row | undefined
  /** The row as it is now; null where it is gone. */
  readonly current: Row | null | undefined
  readonly isStale: boolean | undefined
}

/** The sides of the error, if it is one of a conflict. */
export function conflictOf(error: unknown): Conflict | undefined {
  return error instanceof Error && error.name === 'ConflictError' ? (error as Error & Conflict) : undefined
}

/** The messages by field of an error of the data provider, for a form. */
export function errorsOf(error: unknown): object {
  const body = typeof error === 'object' && error !== null && 'body' in error ? error.body : undefined
  if (typeof body !== 'object' || body === null || !('errors' in body)) return {}
  return typeof body.errors === 'object' && body.errors !== null ? body.errors : {}
}

interface ConflictDialogProps {
  readonly resource: Resource
  readonly conflict: Conflict
  /** Saves what was chosen over the row as it is now. Without it the dialog only shows what has changed. */
  readonly onSave?: (chosen: Row) => void
  readonly onClose: () => void
}

/** What the user wrote and what somebody else wrote meanwhile, side by side, with a choice for each field. */
export function ConflictDialog({ resource, conflict, onSave, onClose }: ConflictDialogProps): ReactElement {
  const { current } = conflict
  const [mine, setMine] = useState<readonly string[]>(() => Object.keys(conflict.sent ?? {}))
  const differing = [...differencesOf(resource, conflict), ...childDifferences(resource, conflict)]
  const save = (): void => {
    if (current === null || current === undefined) return
    const chosen = differing.filter(({ name, mine: own }) => own !== undefined && mine.includes(name))
    onSave?.({
      ...current,
      ...Object.fromEntries(chosen.map(({ name }) => [name, conflict.sent?.[name]]))
    })
  }
  return (
    <Dialog open onClose={onClose} maxWidth="md" fullWidth aria-labelledby="conflict-title">
      <DialogTitle id="conflict-title">Somebody else has changed this meanwhile</DialogTitle>
      <DialogContent>
        <DialogContentText>{explanationOf(conflict, onSave !== undefined)}</DialogContentText>
        {differing.length > 0 && (
          <Table size="small">
            <TableHead>
              <TableRow>
                <TableCell>Field</TableCell>
                <TableCell>As you saw it</TableCell>
                <TableCell>Yours</TableCell>
                <TableCell>Theirs</TableCell>
              </TableRow>
            </TableHead>
            <TableBody>
              {differing.map((one) => {
                const { name, label } = one
                const isMine = mine.includes(name)
                const choice = (side: 'mine' | 'theirs', checked: boolean, choose: () => void): ReactElement | null =>
                  onSave === undefined || one.mine === undefined ? null : (
                    <Radio
                      size="small"
                      name={name}
                      checked={checked}
                      onChange={choose}
                      slotProps={{ input: { 'aria-label': `${label}: ${side}` } }}
                    />
                  )
                return (
                  <TableRow key={name}>
                    <TableCell component="th" scope="row">
                      {label}
                    </TableCell>
                    <TableCell>{one.base}</TableCell>
                    <TableCell>
                      {choice('mine', isMine, () => setMine([...mine, name]))}
                      {one.mine ?? '(not changed)'}
                    </TableCell>
                    <TableCell>
                      {choice('theirs', !isMine, () => setMine(mine.filter((other) => other !== name)))}
                      {one.theirs}
                    </TableCell>
                  </TableRow>
                )
              })}
            </TableBody>
          </Table>
        )}
      </DialogContent>
      <DialogActions>
        {onSave !== undefined && current !== null && current !== undefined ? (
          <>
            <Button onClick={onClose}>Discard mine</Button>
            <Button variant="contained" onClick={save}>
              Save the choice
            </Button>
          </>
        ) : (
          <Button onClick={onClose}>Show the row as it is now</Button>
        )}
      </DialogActions>
    </Dialog>
  )
}

function explanationOf({ current }: Conflict, hasChoice: boolean): string {
  if (current === null) return 'The row is not there any more.'
  if (current === undefined) return 'The row cannot be read at the moment.'
  return hasChoice
    ? 'Choose what is right for each field.'
    : 'Nothing was done. Look at what has changed, and try again.'
}

interface Difference {
  /** Of the property; one of a child has the child before it. */
  readonly name: string
  readonly label: string
  readonly base: string
  /** undefined where the user changed nothing. */
  readonly mine: string | undefined
  readonly theirs: string
}

/** The properties that either side has changed. */
function differencesOf(resource: Resource, { sent = {}, base = {}, current }: Conflict): Difference[] {
  const now = current ?? {}
  return shownProperties(resource).flatMap(({ name, type, setOnUpdate }) => {
    const isMine = name in sent && setOnUpdate
    const isTheirs = JSON.stringify(base[name]) !== JSON.stringify(now[name])
    if (!isMine && !isTheirs) return []
    const text = (value: unknown): string => valueText(value, type)
    const mine = isMine ? text(sent[name]) : undefined
    return [{ name, label: inWords(name), base: text(base[name]), mine, theirs: text(now[name]) }]
  })
}

/** What somebody else has changed of the children, where both rows were read with them. */
function childDifferences(resource: Resource, { base, current }: Conflict): Difference[] {
  return childrenOf(resource).flatMap((navigation) => {
    const [before, now] = [base?.[navigation.name], current?.[navigation.name]]
    if (!Array.isArray(before) || !Array.isArray(now)) return []
    const [were, are] = [byId(before as readonly Row[]), byId(now as readonly Row[])]
    return [...new Set([...were.keys(), ...are.keys()])].flatMap((id) => {
      const [was, is] = [were.get(id), are.get(id)]
      const [name, label] = [`${navigation.name} ${id}`, `${inWords(navigation.name)} ${id}`]
      if (was === undefined || is === undefined) {
        const text = (child: Row | undefined): string => (child === undefined ? '(not there)' : childText(child))
        return [{ name, label, base: text(was), mine: undefined, theirs: text(is) }]
      }
      return shownProperties(navigation)
        .filter((one) => JSON.stringify(was[one.name]) !== JSON.stringify(is[one.name]))
        .map((one) => ({
          name: `${name} ${one.name}`,
          label: `${label}: ${inWords(one.name).toLowerCase()}`,
          base: valueText(was[one.name], one.type),
          mine: undefined,
          theirs: valueText(is[one.name], one.type)
        }))
    })
  })
}

function byId(children: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(children.map((child) => [valueText(child['id'], 'string'), child]))
}
