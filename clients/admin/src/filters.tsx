import {
  Box,
  Button,
  Chip,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  MenuItem,
  Stack,
  TextField
} from '@mui/material'
import { type FormEvent, type ReactElement, useState } from 'react'
import { useListContext } from 'react-admin'
import type { Property, Resource } from './catalogue.js'
import { CHOSEN_OWNER, EVERY_OWNER } from './owner.js'
import { inWords, momentOf, operatorKey, valueText } from './words.js'

/** A condition as the filter of a list holds it, under the key `price.greaterThan`. */
interface Condition {
  readonly key: string
  readonly property: Property
  readonly operator: string
  readonly value: unknown
}

/** What is used here of the context of a list, which react-admin does not type. */
interface ListState {
  readonly filterValues: Readonly<Record<string, unknown>>
  readonly setFilters: (filter: Readonly<Record<string, unknown>>, displayed: object, isDelayed: boolean) => void
}

/** Search, and conditions by any operator that the catalogue names. */
export function FilterBar({ resource }: { readonly resource: Resource }): ReactElement {
  const { filterValues: filter, setFilters } = useListContext() as ListState
  const [isAdding, setAdding] = useState(false)
  const filtered = resource.properties.filter(({ filterable }) => filterable)
  const change = (next: Readonly<Record<string, unknown>>): void => setFilters(next, {}, false)
  const without = (key: string): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(filter).filter(([one]) => one !== key))
  return (
    <Stack direction="row" useFlexGap sx={{ flexWrap: 'wrap', gap: 1, alignItems: 'center', py: 1 }}>
      {resource.properties.some(({ searchable }) => searchable) && (
        <SearchField
          text={typeof filter['q'] === 'string' ? filter['q'] : ''}
          onSearch={(text) => change(text === '' ? without('q') : { ...filter, q: text })}
        />
      )}
      {filtered.length > 0 && (
        <Button variant="outlined" onClick={() => setAdding(true)}>
          Add filter
        </Button>
      )}
      {CHOSEN_OWNER in filter && (
        <Chip
          label={ownerText(filter[CHOSEN_OWNER], resource)}
          aria-label={`Choose another owner: ${ownerText(filter[CHOSEN_OWNER], resource)}`}
          onClick={() => change(without(CHOSEN_OWNER))}
          onDelete={() => change(without(CHOSEN_OWNER))}
        />
      )}
      {conditionsOf(filter, filtered).map((condition) => (
        <Chip
          key={condition.key}
          label={conditionText(condition)}
          aria-label={`Remove the filter ${conditionText(condition)}`}
          onClick={() => change(without(condition.key))}
          onDelete={() => change(without(condition.key))}
        />
      ))}
      {isAdding && (
        <ConditionDialog
          properties={filtered}
          onClose={() => setAdding(false)}
          onAdd={(key, value) => change({ ...filter, [key]: value })}
        />
      )}
    </Stack>
  )
}

function ownerText(owner: unknown, { ownerProperty }: Resource): string {
  return owner === EVERY_OWNER ? 'Rows of every owner' : `${inWords(ownerProperty)} ${valueText(owner, 'string')}`
}

function SearchField({
  text,
  onSearch
}: {
  readonly text: string
  readonly onSearch: (text: string) => void
}): ReactElement {
  const [typed, setTyped] = useState(text)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onSearch(typed.trim())
  }
  return (
    <Box component="form" role="search" onSubmit={submit}>
      <TextField
        type="search"
        size="small"
        label="Search"
        margin="none"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => {
          if (typed.trim() !== text) onSearch(typed.trim())
        }}
      />
    </Box>
  )
}

function conditionsOf(filter: Readonly<Record<string, unknown>>, properties: readonly Property[]): Condition[] {
  return Object.entries(filter).flatMap(([key, value]) => {
    const [name = '', word = ''] = key.split('.')
    const property = properties.find((one) => one.name === name)
    const operator = property?.operators.find((one) => operatorKey(one) === word)
    return property === undefined || operator === undefined ? [] : [{ key, property, operator, value }]
  })
}

function conditionText({ property: { name, type }, operator, value }: Condition): string {
  const operands = [value].flat().map((one) => valueText(one, type))
  const text = isBare(operator) ? '' : ` ${operands.join(operator === 'between' ? ' and ' : ', ')}`
  return `${inWords(name)} ${operator}${text}`
}

function isBare(operator: string): boolean {
  return operator === 'is empty' || operator === 'is not empty'
}

interface ConditionDialogProps {
  readonly properties: readonly Property[]
  readonly onClose: () => void
  readonly onAdd: (key: string, value: unknown) => void
}

function ConditionDialog({ properties, onClose, onAdd }: ConditionDialogProps): ReactElement {
  const [name, setName] = useState(properties[0]?.name ?? '')
  const property = properties.find((one) => one.name === name)
  const [chosen, setOperator] = useState('')
  const operators = property?.operators ?? []
  const operator = operators.includes(chosen) ? chosen : (operators[0] ?? '')
  const [texts, setTexts] = useState<readonly [string, string]>(['', ''])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (property === undefined) return
    onAdd(`${name}.${operatorKey(operator)}`, operandOf(texts, operator, property.type))
    onClose()
  }
  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="xs" aria-labelledby="filter-title">
      <form onSubmit={submit}>
        <DialogTitle id="filter-title">Add a filter</DialogTitle>
        <DialogContent>
          <TextField select fullWidth label="Field" value={name} onChange={(event) => setName(event.target.value)}>
            {properties.map((one) => (
              <MenuItem key={one.name} value={one.name}>
                {inWords(one.name)}
              </MenuItem>
            ))}
          </TextField>
          <TextField
            select
            fullWidth
            label="Condition"
            value={operator}
            onChange={(event) => setOperator(event.target.value)}
          >
            {operators.map((one) => (
              <MenuItem key={one} value={one}>
                {one}
              </MenuItem>
            ))}
          </TextField>
          {property !== undefined && !isBare(operator) && (
            <Operand property={property} operator={operator} texts={texts} onChange={setTexts} />
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

/** What the data provider takes: a list for `in` and `between`, true where there is no value. */
function operandOf([first, second]: readonly [string, string], operator: string, type: string): unknown {
  if (isBare(operator)) return true
  if (operator === 'in') return first.split(',').map((one) => one.trim())
  const [from, to] = [first, second].map((text) => (type === 'dateTime' ? momentOf(text) : text))
  return operator === 'between' ? [from, to] : from
}
