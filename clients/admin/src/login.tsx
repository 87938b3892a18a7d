import { Alert, Box, Button, Paper, TextField, Typography } from '@mui/material'
import { type FormEvent, type ReactElement, useState } from 'react'
import { useLocation, useLogin } from 'react-admin'
import { problemText } from './password.js'

interface LoginProps {
  readonly baseUrl: string
  /** The site of the OpenID provider that people sign in with; undefined for none. */
  readonly signInSite: string | undefined
}

/** Opens a session. The access token stays in the memory of this page. */
export function LoginPage({ baseUrl, signInSite }: LoginProps): ReactElement {
  const login = useLogin()
  const [failure, setFailure] = useState('')
  const [notice, setNotice] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    setBusy(true)
    setFailure('')
    setNotice('')
    try {
      await login({ email: values.get('email'), password: values.get('password') })
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  /** The answer is the same for every address, so the page promises no more. */
  const askForLink = async (form: HTMLFormElement | null): Promise<void> => {
    const email = form?.querySelector<HTMLInputElement>('input[name=email]')
    if (form === null || email?.reportValidity() !== true) return
    setBusy(true)
    setFailure('')
    setNotice('')
    try {
      const answer = await fetch(`${baseUrl}/auth/forgotten-password`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: email.value })
      })
      if (answer.ok) setNotice('If this address has an account, a link to choose a password is on its way to it.')
      else if (answer.status === 404) setFailure('This service sends no links. Ask whoever manages its accounts.')
      else setFailure(problemText(await answer.json()))
    } catch {
      setFailure('The service does not answer.')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Box component="main" sx={{ minHeight: '100vh', display: 'grid', placeItems: 'start center', p: 2, pt: '15vh' }}>
      <Paper component="form" onSubmit={(event) => void submit(event)} sx={{ p: 3, width: '100%', maxWidth: '24rem' }}>
        <Typography variant="h5" component="h1" gutterBottom>
          Sign in
        </Typography>
        {failure !== '' && <Alert severity="error">{failure}</Alert>}
        {notice !== '' && <Alert severity="success">{notice}</Alert>}
        <TextField fullWidth required name="email" type="email" label="E-mail address" autoComplete="username" />
        <TextField
          fullWidth
          required
          name="password"
          type="password"
          label="Password"
          autoComplete="current-password"
        />
        <Button type="submit" variant="contained" fullWidth disabled={isBusy} sx={{ mt: 2 }}>
          Sign in
        </Button>
        <Button
          fullWidth
          disabled={isBusy}
          onClick={(event) => void askForLink(event.currentTarget.form)}
          sx={{ mt: 1, textTransform: 'none' }}
        >
          I have forgotten my password
        </Button>
        {signInSite !== undefined && <ProviderLink baseUrl={baseUrl} site={signInSite} />}
      </Paper>
    </Box>
  )
}

/** What react-admin keeps of the page that asked who is signed in. */
interface Asked {
  readonly nextPathname?: string
  readonly nextSearch?: string
}

/** Leads to the provider, and from there back to the page that somebody has to be signed in for. */
function ProviderLink({ baseUrl, site }: { readonly baseUrl: string; readonly site: string }): ReactElement {
  const { nextPathname = '/', nextSearch = '' } = (useLocation().state ?? {}) as Asked
  const page = `${location.pathname}#${encodeURI(nextPathname)}${nextSearch}`
  return (
    <Button
      fullWidth
      variant="outlined"
      href={`${baseUrl}/auth/sign-in?returnTo=${encodeURIComponent(page)}`}
      sx={{ mt: 2, textTransform: 'none' }}
    >
      Sign in with {site}
    </Button>
  )
}
