import { Button, Dialog, DialogActions, DialogContent, DialogContentText, DialogTitle } from '@mui/material'
import { type ReactElement, useState } from 'react'
import { useDelete, useNotify, useRecordContext, useRedirect } from 'react-admin'
import type { Resource } from './catalogue.js'
import { labelText } from './labels.js'
import { deedText, singular } from './words.js'

/** Asks, and deletes the row by the version that was shown. */
export function DeleteButton({ resource }: { readonly resource: Resource }): ReactElement | null {
  const row = useRecordContext()
  const notify = useNotify()
  const redirect = useRedirect()
  const [isAsked, setAsked] = useState(false)
  const [remove, { isPending }] = useDelete()
  const deed = deedText('delete', resource.name)
  const one = singular(resource.name)
  if (row === undefined) return null
  const confirm = (): void => {
    void remove(
      resource.name,
      { id: row.id, previousData: row },
      {
        mutationMode: 'pessimistic',
        onSuccess() {
          notify(`${deed}: done`, { type: 'success' })
          redirect('list', resource.name)
        },
        onError(error) {
          setAsked(false)
          notify(error instanceof Error ? error.message : String(error), { type: 'error' })
        }
      }
    )
  }
  return (
    <>
      <Button size="small" color="error" onClick={() => setAsked(true)}>
        {deed}
      </Button>
      <Dialog open={isAsked} onClose={() => setAsked(false)} aria-labelledby="delete-title">
        <DialogTitle id="delete-title">{deed}</DialogTitle>
        <DialogContent>
          <DialogContentText sx={{ overflowWrap: 'break-word' }}>
            {labelText(row, resource)} is deleted for good.
          </DialogContentText>
        </DialogContent>
        <DialogActions>
          <Button onClick={() => setAsked(false)}>Keep the {one}</Button>
          <Button variant="contained" color="error" disabled={isPending} onClick={confirm}>
            {deed}
          </Button>
        </DialogActions>
      </Dialog>
    </>
  )
}
