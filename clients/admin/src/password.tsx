import { Alert, Box, Button, Dialog, DialogActions, DialogContent, DialogTitle, TextField } from '@mui/material'
import { type FormEvent, type ReactElement, useState } from 'react'
import { useNotify } from 'react-admin'

interface PasswordDialogProps {
  readonly baseUrl: string
  readonly onClose: () => void
}

/** Changes the password of who is signed in. The cookies of the session say who that is, and no token is sent. */
export function PasswordDialog({ baseUrl, onClose }: PasswordDialogProps): ReactElement {
  const notify = useNotify()
  const [failure, setFailure] = useState('')
  const [isBusy, setBusy] = useState(false)
  const change = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const [currentPassword, newPassword] = [values.get('current'), values.get('new')]
    setBusy(true)
    try {
      const answer = await fetch(`${baseUrl}/auth/password`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ currentPassword, newPassword })
      })
      if (answer.ok) {
        notify('The password is changed. All other sessions have ended.', { type: 'success' })
        onClose()
      } else setFailure(problemText(await answer.json()))
    } catch {
      setFailure('The service does not answer. Whether the password is changed is not known.')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="xs" aria-labelledby="password-title">
      <Box component="form" onSubmit={(event) => void change(event)}>
        <DialogTitle id="password-title">Change the password</DialogTitle>
        <DialogContent>
          {failure !== '' && <Alert severity="error">{failure}</Alert>}
          <TextField
            fullWidth
            required
            margin="dense"
            name="current"
            type="password"
            label="Current password"
            autoComplete="current-password"
          />
          <TextField
            fullWidth
            required
            margin="dense"
            name="new"
            type="password"
            label="New password"
            autoComplete="new-password"
          />
        </DialogContent>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" disabled={isBusy}>
            Change
          </Button>
        </DialogActions>
      </Box>
    </Dialog>
  )
}

/** What a problem says of the first thing that is wrong. */
export function problemText(answer: unknown): string {
  const { detail = '', errors = [] } = answer as {
    readonly detail?: string
    readonly errors?: readonly { readonly detail: string }[]
  }
  return errors[0]?.detail ?? detail
}
