import {
  Alert,
  Box,
  Button,
  Checkbox,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  FormControlLabel,
  Link,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  TextField,
  Typography
} from '@mui/material'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ApplicationTypes, type Client, isProblem } from '@uniform-rest/client'
import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react'
import { Title, useNotify } from 'react-admin'
import { Link as RouterLink, useParams } from 'react-router-dom'
import { momentOf, valueText } from './words.js'

// The operations of the service by which whoever has the permission `accounts:manage` manages accounts.

interface Account {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly roles: readonly string[]
  readonly owner: string | null
  readonly claims: object
  readonly isMachine: boolean
  readonly hasPassword: boolean
  readonly createdAt: string
  readonly disabledAt: string | null
}

interface Secret {
  readonly number: number
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly lastUsedAt: string | null
}

interface WholeAccount extends Account {
  readonly identities: readonly { readonly issuer: string; readonly subject: string }[]
  readonly secrets: readonly Secret[]
  readonly rowVersion: string
}

interface NewSecret {
  readonly secret?: string | null
}

interface NewAccount {
  readonly email: string
  readonly name?: string
  readonly roles: readonly string[]
  readonly isMachine: boolean
}

interface Call<Answer, Path = Record<never, never>, Body = never> {
  readonly path: Path
  readonly query: Record<string, string>
  readonly body: Body
  readonly answer: Answer
}

type OfAccount<Answer = WholeAccount, Body = never> = Call<Answer, { readonly id: string }, Body>

/** The types of these operations, as `uniform-rest client-types` writes those of an application. */
export interface AccountTypes extends ApplicationTypes {
  readonly operations: {
    readonly 'GET /accounts': Call<{ readonly accounts: readonly Account[]; readonly next: string | null }>
    readonly 'POST /accounts': Call<WholeAccount & NewSecret, Record<never, never>, NewAccount>
    readonly 'GET /accounts/{id}': OfAccount
    readonly 'PUT /accounts/{id}/roles': OfAccount<WholeAccount, { readonly roles: readonly string[] }>
    readonly 'PUT /accounts/{id}/owner': OfAccount<WholeAccount, { readonly owner: string | null }>
    readonly 'PUT /accounts/{id}/claims': OfAccount<WholeAccount, { readonly claims: object }>
    readonly 'PUT /accounts/{id}/disable': OfAccount
    readonly 'PUT /accounts/{id}/enable': OfAccount
    readonly 'POST /accounts/{id}/invitation': OfAccount<{ readonly expiresAt: string }>
    readonly 'GET /accounts/{id}/sessions': OfAccount<{ readonly sessions: readonly Session[] }>
    readonly 'DELETE /accounts/{id}/sessions': OfAccount<{ readonly sessions: number }>
    readonly 'DELETE /accounts/{id}/sessions/{session}': Call<
      unknown,
      { readonly id: string; readonly session: string }
    >
    readonly 'POST /accounts/{id}/secrets': OfAccount<NewSecret, { readonly expiresAt?: string }>
    readonly 'DELETE /accounts/{id}/secrets/{number}': Call<
      WholeAccount,
      { readonly id: string; readonly number: number }
    >
  }
}

interface Session {
  readonly id: string
  readonly createdAt: string
  readonly expiresAt: string
}

type Operation = keyof AccountTypes['operations']

interface AccountsProps {
  readonly client: Client<AccountTypes>
  /** Whether the caller may call an operation: some are there by a setting alone. */
  readonly allows: (operation: Operation) => boolean
}

const KEY = 'accounts'

/** The accounts of people and machines, in the order in which they were made. */
export function AccountList({ client, allows }: AccountsProps): ReactElement {
  const [email, setEmail] = useState('')
  const [isAdding, setAdding] = useState(false)
  const { data, error, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: [KEY, 'list', email],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => {
      const query = { ...(pageParam === '' ? {} : { after: pageParam }), ...(email === '' ? {} : { email }) }
      return client.call('GET /accounts', { query }, { signal })
    },
    getNextPageParam: ({ next }) => next
  })
  const accounts = data?.pages.flatMap((page) => page.accounts) ?? []
  return (
    <Box sx={{ p: 2, contain: 'inline-size' }}>
      <Title title="Accounts" />
      <Box
        component="form"
        role="search"
        onSubmit={(event) => setEmail(textsOf(event)['email'] ?? '')}
        sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, alignItems: 'center' }}
      >
        <TextField
          size="small"
          name="email"
          label="Whole e-mail address or name of a machine"
          sx={{ flex: '1 1 16rem' }}
        />
        <Button type="submit">Find</Button>
        {allows('POST /accounts') && <Button onClick={() => setAdding(true)}>Add an account</Button>}
      </Box>
      {error !== null && <Alert severity="error">{error.message}</Alert>}
      <Rows
        label="Accounts"
        heads={['E-mail address', 'Name', 'Roles', 'State']}
        rows={accounts.map((one) => ({
          key: one.id,
          cells: [
            <Link key="email" component={RouterLink} to={`/accounts/${one.id}`}>
              {one.email}
            </Link>,
            one.name,
            one.roles.join(', '),
            stateOf(one)
          ]
        }))}
        none={data === undefined ? '' : 'There is no such account.'}
      />
      {hasNextPage && <Button onClick={() => void fetchNextPage()}>Show more</Button>}
      {isAdding && (
        <AddDialog
          client={client}
          onClose={() => {
            setAdding(false)
            void refetch()
          }}
        />
      )}
    </Box>
  )
}

/** One account: what it may, its sessions, and the secrets of a machine. */
export function AccountPage({ client, allows }: AccountsProps): ReactElement {
  const { id = '' } = useParams()
  const notify = useNotify()
  const [secret, setSecret] = useState<NewSecret>()
  const [isBusy, setBusy] = useState(false)
  const account = useQuery({
    queryKey: [KEY, id],
    queryFn: ({ signal }) => client.call('GET /accounts/{id}', { path: { id } }, { signal })
  })
  const sessions = useQuery({
    queryKey: [KEY, id, 'sessions'],
    queryFn: ({ signal }) => client.call('GET /accounts/{id}/sessions', { path: { id } }, { signal })
  })
  const { data: shown } = account
  if (shown === undefined) {
    return account.error === null ? <Title title="Account" /> : <Alert severity="error">{account.error.message}</Alert>
  }
  /** Does something, says how it went, and shows the account as it is then. */
  const run = async (done: string, doing: () => Promise<unknown>): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    try {
      await doing()
      notify(done, { type: 'success' })
    } catch (error) {
      notify(failureText(error), { type: 'error' })
    }
    await Promise.all([account.refetch(), sessions.refetch()])
    setBusy(false)
  }
  const ifMatch = { ifMatch: shown }
  const path = { path: { id } }
  const { isMachine, disabledAt, identities, secrets } = shown
  const state = disabledAt === null ? 'disable' : 'enable'
  return (
    <Box sx={{ p: 2, contain: 'inline-size' }} aria-busy={isBusy}>
      <Title title={shown.email} />
      {account.error !== null && <Alert severity="error">{account.error.message}</Alert>}
      <Typography>
        {[shown.name, stateOf(shown), `made ${valueText(shown.createdAt, 'dateTime')}`].join(' · ')}
      </Typography>
      {identities.map(({ issuer, subject }) => (
        <Typography key={`${issuer} ${subject}`}>
          Signs in as {subject} of {issuer}
        </Typography>
      ))}
      <Box sx={{ my: 1 }}>
        <Button
          onClick={() =>
            void run(state === 'disable' ? 'The account is disabled' : 'The account is enabled', () =>
              client.call(`PUT /accounts/{id}/${state}`, path, ifMatch)
            )
          }
        >
          {state === 'disable' ? 'Disable' : 'Enable'}
        </Button>
        {!isMachine && allows('POST /accounts/{id}/invitation') && (
          <Button
            onClick={() =>
              void run('An invitation is on its way', () => client.call('POST /accounts/{id}/invitation', path))
            }
          >
            Send an invitation
          </Button>
        )}
      </Box>
      <OneField
        label="Roles"
        help="Separated by commas"
        value={shown.roles.join(', ')}
        onSave={(text) =>
          run('Roles saved', () =>
            client.call('PUT /accounts/{id}/roles', { ...path, body: { roles: rolesIn(text) } }, ifMatch)
          )
        }
      />
      <OneField
        label="Owner"
        help="A whole number: the rows of this owner are those of the account. Empty for none"
        value={shown.owner ?? ''}
        onSave={(text) =>
          run('Owner saved', () =>
            client.call(
              'PUT /accounts/{id}/owner',
              { ...path, body: { owner: text.trim() === '' ? null : text.trim() } },
              ifMatch
            )
          )
        }
      />
      <OneField
        label="Claims"
        help="Further claims of its tokens, as a JSON object"
        value={JSON.stringify(shown.claims)}
        onSave={(text) =>
          run('Claims saved', () =>
            client.call('PUT /accounts/{id}/claims', { ...path, body: { claims: claimsIn(text) } }, ifMatch)
          )
        }
      />
      {isMachine ? (
        <Part title="Secrets">
          <Rows
            label="Secrets"
            heads={['Number', 'Made', 'Expires', 'Last used', 'Action']}
            rows={secrets.map(({ number, createdAt, expiresAt, lastUsedAt }) => ({
              key: String(number),
              cells: [
                String(number),
                valueText(createdAt, 'dateTime'),
                expiresAt === null ? 'Never' : valueText(expiresAt, 'dateTime'),
                lastUsedAt === null ? 'Never' : valueText(lastUsedAt, 'dateTime'),
                <Button
                  key="remove"
                  aria-label={`Remove the secret ${number}`}
                  onClick={() =>
                    void run('The secret is removed', () =>
                      client.call('DELETE /accounts/{id}/secrets/{number}', { path: { id, number } }, ifMatch)
                    )
                  }
                >
                  Remove
                </Button>
              ]
            }))}
            none="The account has no secret, so that nobody gets a token for it."
          />
          <SecretForm
            onAdd={(expiresAt) =>
              run('A secret is made', async () => {
                const body = expiresAt === '' ? {} : { expiresAt: momentOf(expiresAt) }
                setSecret(await client.call('POST /accounts/{id}/secrets', { ...path, body }))
              })
            }
          />
        </Part>
      ) : (
        <Part title="Sessions">
          {sessions.error !== null && <Alert severity="error">{sessions.error.message}</Alert>}
          <Rows
            label="Sessions"
            heads={['Opened', 'Ends without a use', 'Action']}
            rows={(sessions.data?.sessions ?? []).map((one) => ({
              key: one.id,
              cells: [
                valueText(one.createdAt, 'dateTime'),
                valueText(one.expiresAt, 'dateTime'),
                <Button
                  key="end"
                  aria-label={`End the session of ${valueText(one.createdAt, 'dateTime')}`}
                  onClick={() =>
                    void run('The session has ended', () =>
                      client.call('DELETE /accounts/{id}/sessions/{session}', { path: { id, session: one.id } })
                    )
                  }
                >
                  End
                </Button>
              ]
            }))}
            none={sessions.data === undefined ? '' : 'The account has no session.'}
          />
          <Button
            onClick={() =>
              void run('All sessions have ended', () => client.call('DELETE /accounts/{id}/sessions', path))
            }
          >
            End all sessions
          </Button>
        </Part>
      )}
      {secret !== undefined && <SecretDialog of={secret} onClose={() => setSecret(undefined)} />}
    </Box>
  )
}

function AddDialog({
  client,
  onClose
}: Pick<AccountsProps, 'client'> & { readonly onClose: () => void }): ReactElement {
  const [failure, setFailure] = useState('')
  const [made, setMade] = useState<WholeAccount & NewSecret>()
  const [isBusy, setBusy] = useState(false)
  const add = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    const { email = '', name = '', roles = '', isMachine } = textsOf(event)
    const body = { email, ...(name === '' ? {} : { name }), roles: rolesIn(roles), isMachine: isMachine !== undefined }
    setBusy(true)
    try {
      setMade(await client.call('POST /accounts', { body }))
    } catch (error) {
      setFailure(failureText(error))
    }
    setBusy(false)
  }
  if (made?.isMachine === true) return <SecretDialog of={made} onClose={onClose} />
  return (
    // The answer may hold a secret, which is shown once.
    <Dialog open onClose={isBusy ? undefined : onClose} fullWidth maxWidth="sm" aria-labelledby="add-title">
      <DialogTitle id="add-title">Add an account</DialogTitle>
      {made === undefined ? (
        <Box component="form" onSubmit={(event) => void add(event)}>
          <DialogContent>
            {failure !== '' && <Alert severity="error">{failure}</Alert>}
            <TextField fullWidth required margin="dense" name="email" label="E-mail address, or name of a machine" />
            <TextField fullWidth margin="dense" name="name" label="Name" />
            <TextField fullWidth margin="dense" name="roles" label="Roles" helperText="Separated by commas" />
            <FormControlLabel control={<Checkbox name="isMachine" />} label="An account of a program, with a secret" />
          </DialogContent>
          <DialogActions>
            <Button disabled={isBusy} onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={isBusy}>
              Add
            </Button>
          </DialogActions>
        </Box>
      ) : (
        <>
          <DialogContent>
            <DialogContentText>
              <Link component={RouterLink} to={`/accounts/${made.id}`}>
                {made.email}
              </Link>{' '}
              is there, without a password.
            </DialogContentText>
          </DialogContent>
          <DialogActions>
            <Button onClick={onClose}>Close</Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  )
}

function SecretForm({ onAdd }: { readonly onAdd: (expiresAt: string) => Promise<void> }): ReactElement {
  return (
    <Box
      component="form"
      onSubmit={(event) => void onAdd(textsOf(event)['expiresAt'] ?? '')}
      sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, alignItems: 'center', mt: 1 }}
    >
      <TextField
        size="small"
        name="expiresAt"
        type="datetime-local"
        label="Expires"
        slotProps={{ inputLabel: { shrink: true } }}
      />
      <Button type="submit">Make a secret</Button>
    </Box>
  )
}

/** No page shows a secret a second time: closed by its button alone. */
function SecretDialog({ of, onClose }: { readonly of: NewSecret; readonly onClose: () => void }): ReactElement {
  return (
    <Dialog open fullWidth maxWidth="sm" aria-labelledby="secret-title">
      <DialogTitle id="secret-title">The new secret</DialogTitle>
      <DialogContent>
        <DialogContentText>
          {typeof of.secret === 'string'
            ? 'It is shown this once. Keep it where secrets of the program are kept.'
            : 'The answer with the secret was lost. Remove this secret, and make another.'}
        </DialogContentText>
        {typeof of.secret === 'string' && (
          <Typography component="code" sx={{ overflowWrap: 'anywhere' }}>
            {of.secret}
          </Typography>
        )}
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  )
}

interface OneFieldProps {
  readonly label: string
  readonly help: string
  readonly value: string
  readonly onSave: (text: string) => Promise<void>
}

function OneField({ label, help, value, onSave }: OneFieldProps): ReactElement {
  return (
    <Box
      component="form"
      // With the value that is stored now.
      key={value}
      onSubmit={(event) => void onSave(textsOf(event)['value'] ?? '')}
      sx={{ display: 'flex', gap: 1, alignItems: 'start', mt: 2 }}
    >
      <TextField size="small" name="value" label={label} helperText={help} defaultValue={value} sx={{ flex: 1 }} />
      <Button type="submit" aria-label={`Save ${label.toLowerCase()}`}>
        Save
      </Button>
    </Box>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactElement {
  return (
    <Box component="section" aria-label={title} sx={{ mt: 3 }}>
      <Typography variant="h6" component="h2">
        {title}
      </Typography>
      {children}
    </Box>
  )
}

interface RowsProps {
  readonly label: string
  readonly heads: readonly string[]
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[]
  /** In the place of no rows. */
  readonly none: string
}

function Rows({ label, heads, rows, none }: RowsProps): ReactElement {
  if (rows.length === 0) return <Typography role="status">{none}</Typography>
  return (
    <TableContainer tabIndex={0} role="group" aria-label={label}>
      <Table size="small">
        <TableHead>
          <TableRow>
            {heads.map((head) => (
              <TableCell key={head}>{head}</TableCell>
            ))}
          </TableRow>
        </TableHead>
        <TableBody>
          {rows.map(({ key, cells }) => (
            <TableRow key={key}>
              {cells.map((cell, at) => (
                <TableCell key={heads[at]}>{cell}</TableCell>
              ))}
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
}

function stateOf({ disabledAt, isMachine, hasPassword }: Account): string {
  if (disabledAt !== null) return 'Disabled'
  if (isMachine) return 'Machine'
  return hasPassword ? 'Active' : 'Without a password'
}

function rolesIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

function claimsIn(text: string): object {
  try {
    return JSON.parse(text) as object // the service says what is no object
  } catch {
    throw new TypeError('Claims must be a JSON object, such as {"department":"north"}.')
  }
}

/** The texts of a form by the names of its inputs. */
function textsOf(event: FormEvent<HTMLElement>): Readonly<Record<string, string | undefined>> {
  event.preventDefault()
  const values = new FormData(event.currentTarget as HTMLFormElement) // the events of forms alone
  return Object.fromEntries([...values].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
}

function failureText(error: unknown): string {
  if (isProblem(error, 'conflict')) return 'Somebody else has changed this account meanwhile. It is shown as it is now.'
  if (isProblem(error)) {
    const { errors, detail } = error.problem
    return errors.length === 0 ? detail : errors.map((one) => one.detail).join(' ')
  }
  return error instanceof Error ? error.message : String(error)
}
