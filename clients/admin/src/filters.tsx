import { Box, Button, Chip, Stack, TextField } from '@mui/material'
import { type FormEvent, type ReactElement, useState } from 'react'
import { useListContext } from 'react-admin'
import type { Catalogue, Resource } from './catalogue.js'
import {
  type Condition,
  conditionsIn,
  conditionsOf,
  conditionText,
  type ConditionWords,
  groupsIn,
  groupText,
  type ListFilter,
  MAX_GROUPS,
  takesWholeValues,
  withConditions,
  withoutGroup,
  withoutKey
} from './filter-conditions.js'
import { FilterDialog } from './filter-dialog.js'
import { CHOSEN_OWNER, EVERY_OWNER } from './owner.js'
import { type ReferredRow, useReferenceNames } from './references.js'
import { inWords, valueText } from './words.js'

/** What is used here of the context of a list, which react-admin does not type. */
interface ListState {
  readonly filterValues: ListFilter
  readonly setFilters: (filter: ListFilter, displayed: object, isDelayed: boolean) => void
}

interface FilterBarProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

/** The words of conditions, with the names of the rows that they mean. */
function useConditionWords(
  conditions: readonly Condition[],
  { resource, catalogue }: FilterBarProps
): ConditionWords & { readonly ownerName: (owner: unknown) => string } {
  const owner = resource.properties.find(({ name }) => name === resource.ownerProperty)
  const ownerTarget = owner === undefined ? undefined : catalogue.referenceOf(resource, owner)
  const { filterValues } = useListContext() as ListState
  const chosen = filterValues[CHOSEN_OWNER]
  const isNamed = ownerTarget !== undefined && chosen !== undefined && chosen !== EVERY_OWNER
  const referred: ReferredRow[] = isNamed ? [{ target: ownerTarget, id: valueText(chosen, 'string') }] : []
  for (const { property, operator, value } of conditions) {
    const target = catalogue.referenceOf(resource, property)
    if (target === undefined || !takesWholeValues(operator)) continue
    referred.push(...[value].flat().map((one) => ({ target, id: valueText(one, 'string') })))
  }
  const nameOf = useReferenceNames(referred)
  return {
    labelOf: (property) => catalogue.labelOf(resource, property),
    textOf(property, value) {
      const target = catalogue.referenceOf(resource, property)
      return target === undefined ? valueText(value, property.type) : nameOf(target, valueText(value, 'string'))
    },
    ownerName(one) {
      if (one === EVERY_OWNER) return 'Rows of every owner'
      const label = owner === undefined ? inWords(resource.ownerParameter) : catalogue.labelOf(resource, owner)
      const id = valueText(one, 'string')
      return `${label} ${ownerTarget === undefined ? id : nameOf(ownerTarget, id)}`
    }
  }
}

/** Search, and conditions by any operator that the catalogue names. */
export function FilterBar(of: FilterBarProps): ReactElement {
  const { resource } = of
  const { filterValues: filter, setFilters } = useListContext() as ListState
  const [isAdding, setAdding] = useState(false)
  const filtered = resource.properties.filter(({ filterable }) => filterable)
  const change = (next: ListFilter): void => setFilters(next, {}, false)
  const without = (key: string): ListFilter => withoutKey(filter, key)
  const conditions = conditionsIn(filter, filtered)
  const grouped = groupsIn(filter).flatMap((group) => conditionsOf(group, filtered))
  const { ownerName, ...words } = useConditionWords([...conditions, ...grouped], of)
  const groups = groupsIn(filter).map((group) => groupText(group, filtered, words))
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
          label={ownerName(filter[CHOSEN_OWNER])}
          aria-label={`Choose another owner: ${ownerName(filter[CHOSEN_OWNER])}`}
          onClick={() => change(without(CHOSEN_OWNER))}
          onDelete={() => change(without(CHOSEN_OWNER))}
        />
      )}
      {conditions.map((condition) => (
        <FilterChip
          key={condition.key}
          text={conditionText(condition, words)}
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
          {...of}
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
