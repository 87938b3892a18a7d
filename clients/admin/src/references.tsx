import { Autocomplete, TextField } from '@mui/material'
import { useQueries } from '@tanstack/react-query'
import { type ReactElement, useCallback, useRef, useState } from 'react'
import {
  AutocompleteInput,
  type RaRecord,
  ReferenceInput,
  useChoicesContext,
  useDataProvider,
  useGetList,
  useReference,
  type Validator
} from 'react-admin'
import type { Resource } from './catalogue.js'
import { distinctLabels, labelText } from './labels.js'
import type { AdminDataProvider } from './owner.js'
import { valueText } from './words.js'

// Rows of other resources, by their names instead of their ids.

/** The name of the row that a value refers to, without a link; the value until the name is there. */
export function ReferenceName({ target, value }: { readonly target: Resource; readonly value: unknown }): ReactElement {
  const id = typeof value === 'string' || typeof value === 'number' ? value : ''
  const { referenceRecord } = useReference({ reference: target.name, id, options: { enabled: id !== '' } })
  return <>{referenceRecord === undefined ? valueText(value, 'string') : labelText(referenceRecord, target)}</>
}

export interface ReferredRow {
  readonly target: Resource
  readonly id: string
}

/** The names of rows that are known when they have been read; the id of any other. */
export function useReferenceNames(referred: readonly ReferredRow[]): (target: Resource, id: string) => string {
  const provider = useDataProvider<AdminDataProvider>()
  const targets = [...new Set(referred.map(({ target }) => target))]
  const found = useQueries({
    queries: targets.map((target) => {
      const ids = [...new Set(referred.filter((one) => one.target === target).map(({ id }) => id))]
      return {
        queryKey: [target.name, 'getMany', 'names', ids],
        queryFn: ({ signal }: { readonly signal: AbortSignal }) => provider.getMany(target.name, { ids, signal })
      }
    })
  })
  return (target, id) => {
    const rows = (found[targets.indexOf(target)]?.data?.data ?? []) as readonly RaRecord[]
    const row = rows.find((one) => String(one.id) === id)
    return row === undefined ? id : labelText(row, target)
  }
}

interface SoughtRows {
  readonly sort: { readonly field: string; readonly order: 'ASC' }
  readonly filterToQuery: (text: string) => Record<string, string>
}

/** How the rows of a resource are found by a text that somebody types. */
function soughtRows(target: Resource): SoughtRows {
  const label = target.properties.find(({ name }) => name === target.label)
  const isSearched = target.properties.some(({ searchable }) => searchable)
  return {
    sort: { field: label?.sortable === true ? target.label : 'id', order: 'ASC' },
    filterToQuery(text) {
      if (isSearched) return { q: text }
      return label?.operators.includes('contains') === true ? { [`${target.label}.contains`]: text } : {}
    }
  }
}

interface ReferenceInputProps {
  readonly source: string
  readonly label: string
  readonly helperText: string | false
  readonly validate: Validator[]
}

/** A choice among the rows of another resource, found by their name or by what they are searched by. */
export function referenceInput(target: Resource, key: string, props: ReferenceInputProps): ReactElement {
  const { sort, filterToQuery } = soughtRows(target)
  return (
    <ReferenceInput key={key} source={props.source} reference={target.name} sort={sort}>
      <ReferenceChoice {...props} target={target} filterToQuery={filterToQuery} />
    </ReferenceInput>
  )
}

function ReferenceChoice({
  target,
  source,
  ...props
}: ReferenceInputProps & Pick<SoughtRows, 'filterToQuery'> & { readonly target: Resource }): ReactElement {
  const { allChoices = [] } = useChoicesContext() as { readonly allChoices?: readonly RaRecord[] }
  const labelOf = useRef<(row: RaRecord) => string>(undefined)
  labelOf.current = distinctLabels(allChoices, target)
  // The input puts the name of the chosen row in the place of what is typed whenever it gets another function.
  const optionText = useCallback((row: RaRecord) => labelOf.current?.(row) ?? '', [])
  return <AutocompleteInput {...props} fullWidth optionText={optionText} />
}

interface ReferencePickerProps {
  readonly target: Resource
  readonly label: string
  /** Whether several rows can be chosen. */
  readonly isMany: boolean
  readonly onChange: (ids: readonly string[]) => void
}

interface ChosenRow {
  readonly row: RaRecord
  /** The name that it had when it was chosen. */
  readonly text: string
}

const OFFERED = 25

/** The same choice where there is no form around it, as in a filter. */
export function ReferencePicker({ target, label, isMany, onChange }: ReferencePickerProps): ReactElement {
  const [text, setText] = useState('')
  /** What somebody has typed; the name of a chosen row, which is put into the input, finds nothing where it is a longer one. */
  const [sought, setSought] = useState('')
  const [chosen, setChosen] = useState<readonly ChosenRow[]>([])
  const { sort, filterToQuery } = soughtRows(target)
  const { data = [], isFetching } = useGetList<RaRecord>(target.name, {
    filter: sought === '' ? {} : filterToQuery(sought),
    sort,
    pagination: { page: 1, perPage: OFFERED }
  })
  const rows = chosen.map(({ row }) => row)
  const options = [...rows, ...data.filter(({ id }) => !rows.some((one) => one.id === id))]
  const distinct = distinctLabels(options, target)
  // A chosen row keeps its name, whichever rows are offered beside it.
  const optionText = (option: RaRecord): string =>
    chosen.find(({ row }) => row.id === option.id)?.text ?? distinct(option)
  const choose = (next: readonly RaRecord[]): void => {
    setChosen(next.map((row) => ({ row, text: optionText(row) })))
    onChange(next.map(({ id }) => String(id)))
  }
  const common = {
    options,
    getOptionLabel: optionText,
    getOptionKey: ({ id }: RaRecord) => id,
    isOptionEqualToValue: (one: RaRecord, other: RaRecord) => one.id === other.id,
    // The service has sought already.
    filterOptions: (found: RaRecord[]) => found,
    loading: isFetching,
    inputValue: text,
    onInputChange: (_event: unknown, next: string, reason: string) => {
      setText(next)
      setSought(reason === 'input' ? next : '')
    }
  }
  const isMissing = chosen.length === 0
  return isMany ? (
    <Autocomplete
      {...common}
      multiple
      value={rows}
      onChange={(_event, next) => choose(next)}
      renderInput={(params) => <TextField {...params} label={label} required={isMissing} />}
    />
  ) : (
    <Autocomplete
      {...common}
      value={rows[0] ?? null}
      onChange={(_event, row) => choose(row === null ? [] : [row])}
      renderInput={(params) => <TextField {...params} label={label} required={isMissing} />}
    />
  )
}
