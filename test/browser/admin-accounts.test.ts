/// <reference lib="dom" />
import { join } from 'node:path'
import { expect } from 'chai'
import { MailServer, tokenIn } from '../accounts/mail-server.js'
import { call } from '../api/http-call.js'
import { runCommand } from '../harness/command.js'
import { outputRoot } from '../harness/package-root.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { type Stack, startStack } from '../stack/stack.js'
import { accessibilityViolations } from './axe.js'
import { sharedBrowser, Visit } from './visit.js'

const APP = join(outputRoot, 'test/accounts')
const PASSWORD = 'correct horse battery'

describe('the accounts in the admin', () => {
  let database: FreshDatabase
  let stack: Stack
  let mails: MailServer
  let visit: Visit | undefined

  before(async () => {
    database = await freshDatabase('sqlite')
    mails = await MailServer.start()
    const env = { ...mails.settings, SIGN_UP_ROLES: 'Guest', ADMIN_UI: 'true', COOKIE_SECURE: 'false' }
    stack = await startStack({ app: APP, database, env })
    for (const [name, role] of [
      ['admin', 'Admin'],
      ['clerk', 'Clerk'],
      ['forgetful', 'Clerk']
    ]) {
      const args = ['account', 'add', `${name}@example.com`, '--role', String(role), '--app', APP]
      const { code, stderr } = await runCommand(args, { env: { DATABASE_URL: database.url }, line: PASSWORD })
      expect(code, stderr).to.equal(0)
    }
  })
  afterEach(() => visit?.context.close())
  after(async () => {
    await mails.stop()
    await stack.stop()
    await database.dispose()
  })

  const openAs = async (who: string, path: string) => {
    // What fades in or out has no contrast of its own.
    const opened = await Visit.start(await sharedBrowser(), { reducedMotion: 'reduce' })
    visit = opened
    const data = { email: `${who}@example.com`, password: PASSWORD }
    const login = await opened.context.request.post(`${stack.url}/auth/login`, { data })
    expect(login.status()).to.equal(200)
    return await opened.open(`${stack.url}/admin/#${path}`)
  }
  const stored = async (email: string): Promise<Readonly<Record<string, unknown>>> => {
    const token = stack.token({ sub: 'admin@example.com', role: 'Admin' })
    const { body } = await stack.call(`/accounts?email=${encodeURIComponent(email)}`, { token })
    return (body as { readonly accounts: readonly [Readonly<Record<string, unknown>>] }).accounts[0]
  }

  it('are added, given roles, disabled and signed out by whoever manages them', async () => {
    const page = await openAs('admin', '/notes')
    await page.getByRole('menuitem', { name: 'Accounts' }).click()
    await page.getByRole('link', { name: 'clerk@example.com' }).waitFor()
    await page.getByRole('button', { name: 'Add an account' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add an account' })
    await dialog.getByLabel('E-mail address, or name of a machine').fill('new@example.com')
    await dialog.getByLabel('Roles').fill('Nobody')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByRole('alert').getByText('Nobody').waitFor()
    await dialog.getByLabel('Roles').fill('Guest, Clerk')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('is there, without a password.').waitFor()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await dialog.getByRole('link', { name: 'new@example.com' }).click()
    await page.getByRole('heading', { name: 'new@example.com' }).waitFor()
    await page.getByRole('textbox', { name: 'Roles' }).fill('Guest')
    await page.getByRole('button', { name: 'Save roles' }).click()
    await page.getByText('Roles saved').waitFor()
    expect(await stored('new@example.com')).to.deep.include({ roles: ['Guest'], disabledAt: null })
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    expect((await stored('new@example.com'))['disabledAt']).to.be.a('string')
    await page.getByText('The account is disabled').waitFor({ state: 'detached' })
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await page.goto(`${stack.url}/admin/#/accounts`)
    await page.getByRole('link', { name: 'admin@example.com' }).click()
    await page.getByRole('button', { name: /^End the session of/ }).waitFor()
    // Of this page: the access token goes on for its last minutes.
    await page.getByRole('button', { name: 'End all sessions' }).click()
    await page.getByText('The account has no session.').waitFor()
  })

  it('of programs have a secret that is shown once', async () => {
    const page = await openAs('admin', '/accounts')
    await page.getByRole('button', { name: 'Add an account' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add an account' })
    await dialog.getByLabel('E-mail address, or name of a machine').fill('nightly')
    await dialog.getByLabel('Roles').fill('Guest')
    await dialog.getByLabel('An account of a program, with a secret').check()
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    const shown = page.getByRole('dialog', { name: 'The new secret' })
    const secret = await shown.locator('code').innerText()
    const headers = {
      authorization: `Basic ${Buffer.from(`nightly:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded'
    }
    const body = 'grant_type=client_credentials'
    const { status } = await call(stack.url, '/auth/token', { method: 'POST', headers, body })
    expect(status).to.equal(200)
    await shown.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'nightly' }).click()
    await page.getByRole('button', { name: 'Remove the secret 1' }).click()
    await page.getByText('The account has no secret').waitFor()
    expect(await page.content()).to.not.contain(secret)
  })

  it('are not there for whoever does not manage them', async () => {
    const page = await openAs('clerk', '/accounts')
    await page.getByText('There is no such page, or you may not see it.').waitFor()
    await page.getByRole('menuitem', { name: 'Notes' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Accounts' }).count()).to.equal(0)
  })

  it('whose password is forgotten get a link from the page where they sign in, and sign in there', async () => {
    const [email, chosen] = ['forgetful@example.com', 'one more long passphrase']
    const opened = await Visit.start(await sharedBrowser(), { reducedMotion: 'reduce' })
    visit = opened
    const page = await opened.open(`${stack.url}/admin/`)
    await page.getByRole('button', { name: 'I have forgotten my password' }).click()
    // Nothing is sent without an address.
    expect(await page.getByLabel('E-mail address').evaluate((field) => field.matches(':focus:invalid'))).to.equal(true)
    await page.getByLabel('E-mail address').fill(email)
    await page.getByRole('button', { name: 'I have forgotten my password' }).click()
    await page.getByRole('alert').getByText('If this address has an account').waitFor()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await page.goto(`${stack.url}/auth/one-time-link#token=${tokenIn(await mails.to(email))}`)
    await page.getByLabel('Password').fill(chosen)
    await page.getByRole('button', { name: 'Choose this password' }).click()
    await page.getByText('The password is chosen.').waitFor()
    await page.goto(`${stack.url}/admin/`)
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(chosen)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('menuitem', { name: 'Notes' }).waitFor()
  })

  it('change their own password', async () => {
    const page = await openAs('clerk', '/notes')
    await page.getByRole('button', { name: /account$/ }).click()
    await page.getByRole('menuitem', { name: 'Change the password' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change the password' })
    await dialog.getByLabel('Current password').fill('not the one')
    await dialog.getByLabel('New password').fill('quite another passphrase')
    await dialog.getByRole('button', { name: 'Change' }).click()
    await dialog.getByRole('alert').waitFor()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await dialog.getByLabel('Current password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Change' }).click()
    await page.getByText('The password is changed.').waitFor()
    const login = await stack.call('/auth/login', {
      body: { email: 'clerk@example.com', password: 'quite another passphrase' }
    })
    expect(login.status).to.equal(200)
  })
})
