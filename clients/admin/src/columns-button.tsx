import {
  Button,
  Checkbox,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  FormControlLabel,
  FormGroup,
  type Theme,
  useMediaQuery
} from '@mui/material'
import { type ReactElement, useState } from 'react'
import { useListContext } from 'react-admin'
import { type Catalogue, type Property, type Resource, shownProperties } from './catalogue.js'
import { CHOSEN_COLUMNS, chosenColumns } from './columns.js'
import { type ListFilter, withoutKey } from './filter-conditions.js'

/** What is used here of the context of a list, which react-admin does not type. */
interface ListState {
  readonly filterValues: ListFilter
  readonly setFilters: (filter: ListFilter, displayed: object, isDelayed: boolean) => void
}

interface ColumnsButtonProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

/** Which properties the list shows. The choice is a part of its address. */
export function ColumnsButton({ resource, catalogue }: ColumnsButtonProps): ReactElement {
  const { filterValues: filter, setFilters } = useListContext() as ListState
  const [isOpen, setOpen] = useState(false)
  const isPhone = useMediaQuery((theme: Theme) => theme.breakpoints.down('md'))
  const shown = chosenColumns(resource, filter, isPhone)
  const change = (next: ListFilter): void => setFilters(next, {}, false)
  const toggle = (property: Property): void => {
    const names = shown.map(({ name }) => name)
    const next = shown.includes(property) ? names.filter((one) => one !== property.name) : [...names, property.name]
    if (next.length > 0) change({ ...filter, [CHOSEN_COLUMNS]: next })
  }
  return (
    <>
      <Button size="small" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Columns
      </Button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} aria-labelledby="columns-title">
        <DialogTitle id="columns-title">Columns</DialogTitle>
        <DialogContent>
          <FormGroup>
            {shownProperties(resource).map((property) => (
              <FormControlLabel
                key={property.name}
                control={<Checkbox size="small" />}
                checked={shown.includes(property)}
                onChange={() => toggle(property)}
                label={catalogue.labelOf(resource, property)}
              />
            ))}
          </FormGroup>
        </DialogContent>
        <DialogActions>
          <Button onClick={() => change(withoutKey(filter, CHOSEN_COLUMNS))}>Usual columns</Button>
          <Button onClick={() => setOpen(false)}>Close</Button>
        </DialogActions>
      </Dialog>
    </>
  )
}
