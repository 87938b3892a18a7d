import {
  Box,
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
  TableRow,
  type Theme,
  Typography,
  useMediaQuery
} from '@mui/material'
import { type ReactElement, useState } from 'react'
import { type Catalogue, childrenOf, type Property, type Resource, type Row, shownProperties } from './catalogue.js'
import { useReferenceNames } from './references.js'
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
  readonly catalogue: Catalogue
  readonly conflict: Conflict
  /** Saves what was chosen over the row as it is now. Without it the dialog only shows what has changed. */
  readonly onSave?: (chosen: Row) => void
  readonly onClose: () => void
}

type Side = 'mine' | 'theirs'

/**
 * What the user wrote and what somebody else wrote meanwhile, side by side, with a choice for each field. Nothing is chosen at
 * first where both sides have changed a field.
 */
export function ConflictDialog({ resource, catalogue, conflict, onSave, onClose }: ConflictDialogProps): ReactElement {
  const { current } = conflict
  const isPhone = useMediaQuery((theme: Theme) => theme.breakpoints.down('md'))
  const [sides, setSides] = useState<Readonly<Record<string, Side>>>({})
  const differing = [...differencesOf(conflict, { resource, catalogue }), ...childDifferences(resource, conflict)]
  const textOf = useValueTexts(differing, { resource, catalogue })
  const sideOf = ({ name, mine, isTheirs }: Difference): Side | undefined =>
    sides[name] ?? (mine === undefined ? 'theirs' : isTheirs ? undefined : 'mine')
  const hasChoice = onSave !== undefined && current !== null && current !== undefined
  const save = (): void => {
    if (current === null || current === undefined) return
    const chosen = differing.filter((one) => sideOf(one) === 'mine')
    onSave?.({ ...current, ...Object.fromEntries(chosen.map(({ name }) => [name, conflict.sent?.[name]])) })
  }
  const choiceOf = (one: Difference): Choice => ({
    difference: one,
    textOf,
    side: sideOf(one),
    ...(hasChoice && one.mine !== undefined ? { choose: (side: Side) => setSides({ ...sides, [one.name]: side }) } : {})
  })
  return (
    <Dialog open onClose={onClose} maxWidth="md" fullWidth fullScreen={isPhone} aria-labelledby="conflict-title">
      <DialogTitle id="conflict-title">Somebody else has changed this meanwhile</DialogTitle>
      <DialogContent>
        <DialogContentText>{explanationOf(conflict, onSave !== undefined)}</DialogContentText>
        {isPhone
          ? differing.map((one) => <StackedDifference key={one.name} {...choiceOf(one)} />)
          : differing.length > 0 && <DifferenceTable choices={differing.map(choiceOf)} />}
      </DialogContent>
      <DialogActions>
        {hasChoice ? (
          <>
            <Button onClick={onClose}>Discard mine</Button>
            <Button variant="contained" disabled={differing.some((one) => sideOf(one) === undefined)} onClick={save}>
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

/** A field that differs, and which side is chosen. */
interface Choice {
  readonly difference: Difference
  readonly textOf: (difference: Difference, value: unknown) => string
  readonly side: Side | undefined
  /** Absent where there is nothing to be chosen. */
  readonly choose?: (side: Side) => void
}

function SideRadio({ difference, of, side, choose }: Choice & { readonly of: Side }): ReactElement | null {
  if (choose === undefined) return null
  return (
    <Radio
      size="small"
      name={difference.name}
      checked={side === of}
      onChange={() => choose(of)}
      slotProps={{ input: { 'aria-label': `${difference.label}: ${of}` } }}
    />
  )
}

function mineText({ difference, textOf }: Choice): string {
  return difference.mine === undefined ? '(not changed)' : textOf(difference, difference.mine.value)
}

function DifferenceTable({ choices }: { readonly choices: readonly Choice[] }): ReactElement {
  return (
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
        {choices.map((choice) => {
          const { difference, textOf } = choice
          return (
            <TableRow key={difference.name}>
              <TableCell component="th" scope="row">
                {difference.label}
              </TableCell>
              <TableCell>{textOf(difference, difference.base)}</TableCell>
              <TableCell>
                <SideRadio {...choice} of="mine" />
                {mineText(choice)}
              </TableCell>
              <TableCell>
                <SideRadio {...choice} of="theirs" />
                {textOf(difference, difference.theirs)}
              </TableCell>
            </TableRow>
          )
        })}
      </TableBody>
    </Table>
  )
}

/** The same on a phone, one below the other. */
function StackedDifference(choice: Choice): ReactElement {
  const { difference, textOf } = choice
  return (
    <Box role="group" aria-label={difference.label} sx={{ mt: 2, overflowWrap: 'break-word' }}>
      <Typography variant="subtitle1" component="h3">
        {difference.label}
      </Typography>
      <Typography variant="body2">As you saw it: {textOf(difference, difference.base)}</Typography>
      <Typography variant="body2">
        <SideRadio {...choice} of="mine" />
        Yours: {mineText(choice)}
      </Typography>
      <Typography variant="body2">
        <SideRadio {...choice} of="theirs" />
        Theirs: {textOf(difference, difference.theirs)}
      </Typography>
    </Box>
  )
}

interface Of {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

/** The texts of values, with the names of the rows that they refer to. */
function useValueTexts(differing: readonly Difference[], { resource, catalogue }: Of): Choice['textOf'] {
  const targetOf = ({ property }: Difference): Resource | undefined =>
    property === undefined ? undefined : catalogue.referenceOf(resource, property)
  const nameOf = useReferenceNames(
    differing.flatMap((one) => {
      const target = targetOf(one)
      const values = [one.base, one.mine?.value, one.theirs].filter((value) => value !== null && value !== undefined)
      return target === undefined ? [] : values.map((value) => ({ target, id: valueText(value, 'string') }))
    })
  )
  return (difference, value) => {
    const target = targetOf(difference)
    if (target === undefined || value === null || value === undefined) return valueText(value, difference.type)
    return nameOf(target, valueText(value, 'string'))
  }
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
  readonly type: string
  /** Undefined where it is one of a child. */
  readonly property: Property | undefined
  readonly base: unknown
  /** undefined where the user changed nothing. */
  readonly mine: { readonly value: unknown } | undefined
  readonly theirs: unknown
  readonly isTheirs: boolean
}

/** The properties that either side has changed. */
function differencesOf({ sent = {}, base = {}, current }: Conflict, { resource, catalogue }: Of): Difference[] {
  const now = current ?? {}
  return shownProperties(resource).flatMap((property) => {
    const { name, type, setOnUpdate } = property
    const isMine = name in sent && setOnUpdate
    const isTheirs = JSON.stringify(base[name]) !== JSON.stringify(now[name])
    if (!isMine && !isTheirs) return []
    const mine = isMine ? { value: sent[name] } : undefined
    const label = catalogue.labelOf(resource, property)
    return [{ name, label, type, property, base: base[name], mine, theirs: now[name], isTheirs }]
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
        return [{ ...OF_CHILD, name, label, type: 'string', base: text(was), theirs: text(is) }]
      }
      return shownProperties(navigation)
        .filter((one) => JSON.stringify(was[one.name]) !== JSON.stringify(is[one.name]))
        .map((one) => ({
          ...OF_CHILD,
          name: `${name} ${one.name}`,
          label: `${label}: ${inWords(one.name).toLowerCase()}`,
          type: one.type,
          base: was[one.name],
          theirs: is[one.name]
        }))
    })
  })
}

/** The form does not hold children, so only another person can have changed them. */
const OF_CHILD = { property: undefined, mine: undefined, isTheirs: true }

function byId(children: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(children.map((child) => [valueText(child['id'], 'string'), child]))
}
