import { Box, Button, Checkbox, Typography } from '@mui/material'
import { type ReactElement, useEffect, useState } from 'react'
import { type Identifier, type RaRecord, useListContext, useRecordContext } from 'react-admin'
import { BulkDialog, type BulkWrite } from './bulk-writes.js'
import { type Catalogue, isInState, nameOf, type Resource } from './catalogue.js'

/** What is used here of the context of a list, which react-admin does not type. */
interface Selection {
  readonly data?: readonly RaRecord[]
  readonly selectedIds: readonly Identifier[]
  readonly onSelect: (ids: Identifier[]) => void
  readonly onToggleItem: (id: Identifier) => void
  readonly refetch: () => unknown
}

const useSelection = (): Selection => useListContext() as Selection

interface SelectionProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

/** The rows that may be changed, or deleted in their state as far as the entity file says. */
function selectable(rows: readonly RaRecord[], { resource, catalogue }: SelectionProps): readonly RaRecord[] {
  const mayChange = catalogue.allows(resource.name, 'update')
  return rows.filter((row) => mayChange || isInState(row, resource.deleteStates))
}

/**
 * The box of a row in a column of its own. The boxes of react-admin's table have their name at an element around the input,
 * where a screen reader that looks for controls by their names does not find it (docs/decisions/046).
 */
export function SelectionField(of: SelectionProps): ReactElement | null {
  const row = useRecordContext()
  const { selectedIds, onToggleItem } = useSelection()
  if (row === undefined) return null
  return (
    <Checkbox
      size="small"
      checked={selectedIds.includes(row.id)}
      disabled={selectable([row], of).length === 0}
      onChange={() => onToggleItem(row.id)}
      // A click on the row opens it.
      onClick={(event) => event.stopPropagation()}
      slotProps={{ input: { 'aria-label': `Select ${nameOf(row, of.resource)}` } }}
    />
  )
}

/** The box above them, for all rows of the page. */
export function PageSelection(of: SelectionProps): ReactElement {
  const { data = [], selectedIds, onSelect } = useSelection()
  const ids = selectable(data, of).map(({ id }) => id)
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
export function SelectionBar({ resource, catalogue }: SelectionProps): ReactElement | null {
  const { data, selectedIds, onSelect } = useSelection()
  const [asked, setAsked] = useState<{ readonly write: BulkWrite; readonly rows: readonly RaRecord[] }>()
  const rows = (data ?? []).filter(({ id }) => selectedIds.includes(id))
  useEffect(() => {
    if (data !== undefined && rows.length < selectedIds.length) onSelect(rows.map(({ id }) => id))
  }, [data, rows, selectedIds, onSelect])
  if (rows.length === 0 && asked === undefined) return null
  return (
    <Box role="group" aria-label="Selected rows" sx={BAR}>
      <Typography>{rows.length} selected</Typography>
      {catalogue.allows(resource.name, 'update') && (
        <Button size="small" onClick={() => setAsked({ write: 'change', rows })}>
          Change selected
        </Button>
      )}
      {catalogue.allows(resource.name, 'delete') && (
        <Button size="small" color="error" onClick={() => setAsked({ write: 'delete', rows })}>
          Delete selected
        </Button>
      )}
      <Button size="small" onClick={() => onSelect([])}>
        Clear selection
      </Button>
      {asked !== undefined && (
        <BulkDialog {...asked} resource={resource} catalogue={catalogue} onClose={() => setAsked(undefined)} />
      )}
    </Box>
  )
}
