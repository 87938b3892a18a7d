import { Box, Button, Chip, Stack, TextField } from '@mui/material'
import { type FormEvent, type ReactElement, useState } from 'react'
import { useListContext } from 'react-admin'
import type { Resource } from './catalogue.js'
import {
  conditionsIn,
  conditionText,
  groupsIn,
  groupText,
  type ListFilter,
  MAX_GROUPS,
  withConditions,
  withoutGroup,
  withoutKey
} from './filter-conditions.js'
import { FilterDialog } from './filter-dialog.js'
import { CHOSEN_OWNER, EVERY_OWNER } from './owner.js'
import { inWords, valueText } from './words.js'

/** What is used here of the context of a list, which react-admin does not type. */
interface ListState {
  readonly filterValues: ListFilter
  readonly setFilters: (filter: ListFilter, displayed: object, isDelayed: boolean) => void
}

/** Search, and conditions by any operator that the catalogue names. */
export function FilterBar({ resource }: { readonly resource: Resource }): ReactElement {
  const { filterValues: filter, setFilters } = useListContext() as ListState
  const [isAdding, setAdding] = useState(false)
  const filtered = resource.properties.filter(({ filterable }) => filterable)
  const change = (next: ListFilter): void => setFilters(next, {}, false)
  const without = (key: string): ListFilter => withoutKey(filter, key)
  const groups = groupsIn(filter).map((group) => groupText(group, filtered))
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
      {conditionsIn(filter, filtered).map((condition) => (
        <FilterChip
          key={condition.key}
          text={conditionText(condition)}
          onRemove={() => change(without(condition.key))}
        />
      ))}
      {groups.map((text, place) => (
        <FilterChip
          key={`${groups.indexOf(text) === place ? '' : place} ${text}`}
          text={text}
          onRemove={() => change(withoutGroup(filter, place))}
        />
      ))}
      {isAdding && (
        <FilterDialog
          properties={filtered}
          takesGroup={groups.length < MAX_GROUPS}
          onClose={() => setAdding(false)}
          onAdd={(conditions) => change(withConditions(filter, conditions))}
        />
      )}
    </Stack>
  )
}

function FilterChip({ text, onRemove }: { readonly text: string; readonly onRemove: () => void }): ReactElement {
  return <Chip label={text} aria-label={`Remove the filter ${text}`} onClick={onRemove} onDelete={onRemove} />
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
