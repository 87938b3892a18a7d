import { Box, Button, Dialog, DialogActions, DialogContent, DialogTitle, MenuItem, TextField } from '@mui/material'
import { type FormEvent, type ReactElement, useState } from 'react'
import type { Catalogue, Property, Resource } from './catalogue.js'
import { type Condition, conditionOf, type Draft, isBare, takesWholeValues } from './filter-conditions.js'
import { ReferencePicker } from './references.js'

interface Filtered {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

interface FilterDialogProps extends Filtered {
  readonly properties: readonly Property[]
  /** Whether another group is possible, so that a filter may have several conditions of which one must hold. */
  readonly takesGroup: boolean
  readonly onClose: () => void
  readonly onAdd: (conditions: readonly Condition[]) => void
}

/** A request may have 50 conditions in all (docs/queries.md). More in one group are hard to read. */
const MAX_DRAFTS = 10

/** Its key tells it from the others when one of them is removed. */
type NumberedDraft = Draft & { readonly key: number }

function emptyDraft(properties: readonly Property[], key: number): NumberedDraft {
  return { key, name: properties[0]?.name ?? '', operator: '', texts: ['', ''] }
}

/** One condition, or several of which at least one must hold. */
export function FilterDialog({ properties, takesGroup, onClose, onAdd, ...of }: FilterDialogProps): ReactElement {
  const [drafts, setDrafts] = useState<readonly NumberedDraft[]>([emptyDraft(properties, 0)])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onAdd(drafts.flatMap((draft) => conditionOf(draft, properties) ?? []))
    onClose()
  }
  const isGroup = drafts.length > 1
  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="xs" aria-labelledby="filter-title">
      <form onSubmit={submit}>
        <DialogTitle id="filter-title">{isGroup ? 'Any of these' : 'Add a filter'}</DialogTitle>
        <DialogContent>
          {drafts.map((draft, place) => (
            <Box key={draft.key} role="group" aria-label={`Condition ${place + 1}`}>
              {place > 0 && <Box sx={{ pt: 2, fontWeight: 'bold' }}>or</Box>}
              <DraftFields
                {...of}
                draft={draft}
                properties={properties}
                isFocused={place > 0}
                onChange={(next) => setDrafts(drafts.with(place, { ...next, key: draft.key }))}
              />
              {isGroup && (
                <Button
                  size="small"
                  aria-label={`Remove condition ${place + 1}`}
                  onClick={() => setDrafts(drafts.toSpliced(place, 1))}
                >
                  Remove
                </Button>
              )}
            </Box>
          ))}
          {takesGroup && drafts.length < MAX_DRAFTS && (
            <Button onClick={() => setDrafts([...drafts, emptyDraft(properties, (drafts.at(-1)?.key ?? 0) + 1)])}>
              Or another condition
            </Button>
          )}
        </DialogContent>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="contained">
            Apply
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

interface DraftFieldsProps extends Filtered {
  readonly draft: Draft
  readonly properties: readonly Property[]
  readonly isFocused: boolean
  readonly onChange: (draft: Draft) => void
}

function DraftFields({ draft, properties, isFocused, onChange, resource, catalogue }: DraftFieldsProps): ReactElement {
  const property = properties.find((one) => one.name === draft.name)
  const operators = property?.operators ?? []
  const operator = operators.includes(draft.operator) ? draft.operator : (operators[0] ?? '')
  const target = property === undefined ? undefined : catalogue.referenceOf(resource, property)
  // What was typed is of the field, and an id is none of what is typed.
  const changed = (next: Pick<Draft, 'name' | 'operator'>): void =>
    onChange({ ...next, texts: next.name === draft.name && target === undefined ? draft.texts : ['', ''] })
  return (
    <>
      <TextField
        select
        fullWidth
        label="Field"
        autoFocus={isFocused}
        value={draft.name}
        onChange={(event) => changed({ ...draft, name: event.target.value })}
      >
        {properties.map((one) => (
          <MenuItem key={one.name} value={one.name}>
            {catalogue.labelOf(resource, one)}
          </MenuItem>
        ))}
      </TextField>
      <TextField
        select
        fullWidth
        label="Condition"
        value={operator}
        onChange={(event) => changed({ ...draft, operator: event.target.value })}
      >
        {operators.map((one) => (
          <MenuItem key={one} value={one}>
            {one}
          </MenuItem>
        ))}
      </TextField>
      {target !== undefined && takesWholeValues(operator) && (
        <ReferencePicker
          key={`${draft.name} ${operator}`}
          target={target}
          label="Value"
          isMany={!operator.endsWith('equals')}
          onChange={(ids) => onChange({ ...draft, texts: [ids.join(','), ''] })}
        />
      )}
      {property !== undefined && !isBare(operator) && (target === undefined || !takesWholeValues(operator)) && (
        <Operand
          property={property}
          operator={operator}
          texts={draft.texts}
          onChange={(texts) => onChange({ ...draft, texts })}
        />
      )}
    </>
  )
}

interface OperandProps {
  readonly property: Property
  readonly operator: string
  readonly texts: readonly [string, string]
  readonly onChange: (texts: readonly [string, string]) => void
}

const HTML_TYPES: Readonly<Record<string, string>> = { dateTime: 'datetime-local', date: 'date' }

function Operand({ property: { type, words }, operator, texts, onChange }: OperandProps): ReactElement {
  const [first, second] = texts
  if (operator === 'in') {
    return (
      <TextField
        fullWidth
        required
        label="Values"
        helperText="With commas between"
        value={first}
        onChange={(event) => onChange([event.target.value, second])}
      />
    )
  }
  const choices = type === 'bool' ? ['true', 'false'] : words
  const common = {
    fullWidth: true,
    required: true,
    select: choices.length > 0,
    type: HTML_TYPES[type] ?? 'text',
    slotProps: { inputLabel: { shrink: true } }
  } as const
  const items = choices.map((choice) => (
    <MenuItem key={choice} value={choice}>
      {type === 'bool' ? (choice === 'true' ? 'Yes' : 'No') : choice}
    </MenuItem>
  ))
  return (
    <>
      <TextField
        {...common}
        label={operator === 'between' ? 'From' : 'Value'}
        value={first}
        onChange={(event) => onChange([event.target.value, second])}
      >
        {items}
      </TextField>
      {operator === 'between' && (
        <TextField {...common} label="To" value={second} onChange={(event) => onChange([first, event.target.value])}>
          {items}
        </TextField>
      )}
    </>
  )
}
