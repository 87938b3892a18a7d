import {
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  MenuItem,
  TextField
} from '@mui/material'
import { type ReactElement, useState } from 'react'
import { Form, SaveButton, useDataProvider, useNotify, useRecordContext, useRefresh } from 'react-admin'
import { type Action, type Catalogue, isInState, ownerOf, type Resource, type Row } from './catalogue.js'
import { type Conflict, conflictOf, ConflictDialog, errorsOf } from './conflict.js'
import { inputOf } from './inputs.js'
import type { AdminDataProvider } from './owner.js'
import { childText, deedText, inWords, singular } from './words.js'

interface ActionsProps {
  readonly resource: Resource
  readonly catalogue: Catalogue
}

/** A button for each action that the caller may call and the state of the row allows. */
export function ActionButtons({ resource, catalogue }: ActionsProps): ReactElement {
  const row = useRecordContext()
  const [open, setOpen] = useState<Action>()
  const offered = resource.actions.filter(
    ({ name, states }) => row !== undefined && catalogue.allows(resource.name, name) && isInState(row, states)
  )
  return (
    <>
      {offered.map((action) => (
        <Button key={action.name} size="small" onClick={() => setOpen(action)}>
          {deedText(action.name, resource.name)}
        </Button>
      ))}
      {open !== undefined && (
        <ActionDialog action={open} resource={resource} catalogue={catalogue} onClose={() => setOpen(undefined)} />
      )}
    </>
  )
}

interface ActionDialogProps extends ActionsProps {
  readonly action: Action
  readonly onClose: () => void
}

/** What an action does, and a form of what it takes. It is sent with the version of the row that the user saw. */
function ActionDialog({ action, resource, catalogue, onClose }: ActionDialogProps): ReactElement {
  const row = useRecordContext()
  const provider = useDataProvider<AdminDataProvider>()
  const notify = useNotify()
  const refresh = useRefresh()
  const [conflict, setConflict] = useState<Conflict>()
  const deed = deedText(action.name, resource.name)
  const [childAt, setChild] = useState('')
  const children = (row?.[action.child] ?? []) as readonly Row[]
  const child = children.find((one) => String(one['id']) === childAt)
  const run = async (values: object): Promise<object | undefined> => {
    if (row === undefined) return undefined
    const ofChild =
      child === undefined ? {} : { [action.childId]: child['id'], [action.childPrecondition]: child['rowVersion'] }
    try {
      await provider.act(resource.name, {
        id: row.id,
        previousData: row,
        action: action.name,
        data: { ...given(values, action), ...ofChild },
        meta: { includeChildren: child !== undefined }
      })
    } catch (error) {
      const found = conflictOf(error)
      // What an action takes is no change of the row, also where a property has the same name.
      if (found?.isStale === true) setConflict({ ...found, sent: undefined })
      else notify(error instanceof Error ? error.message : String(error), { type: 'error' })
      return errorsOf(error)
    }
    notify(`${deed}: done`, { type: 'success' })
    onClose()
    refresh()
    return undefined
  }
  if (conflict !== undefined) {
    const close = (): void => {
      onClose()
      refresh()
    }
    return <ConflictDialog resource={resource} catalogue={catalogue} conflict={conflict} onClose={close} />
  }
  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="sm" aria-labelledby="action-title">
      <Form onSubmit={(values: object) => run(values)} record={{}} resetOptions={{ keepValues: true }}>
        <DialogTitle id="action-title">{deed}</DialogTitle>
        <DialogContent>
          <DialogContentText>{action.description}</DialogContentText>
          {action.childPrecondition !== '' && (
            <TextField
              select
              required
              fullWidth
              label={inWords(action.childId)}
              value={childAt}
              onChange={(event) => setChild(event.target.value)}
            >
              {children.map((one) => (
                <MenuItem key={String(one['id'])} value={String(one['id'])}>
                  {childText(one)}
                </MenuItem>
              ))}
            </TextField>
          )}
          {action.input
            .filter(({ name }) => name !== action.childId)
            .map((property) =>
              inputOf(property, {
                isRequired: !property.nullable,
                of: { owner: ownerOf(resource, property), catalogue }
              })
            )}
        </DialogContent>
        <DialogActions>
          <Button onClick={onClose}>Keep the {singular(resource.name)} as it is</Button>
          <SaveButton label={deed} alwaysEnable icon={<></>} />
        </DialogActions>
      </Form>
    </Dialog>
  )
}

/** The members of the body that the user gave. */
function given(values: object, { input }: Action): object {
  const names = new Set(input.map(({ name }) => name))
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => names.has(name) && value !== undefined && value !== null && value !== ''
    )
  )
}
