import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { type FreshDatabase, freshDatabase, type Stack, startStack, withTestDatabase } from 'uniform-rest/testing'
import { accessibilityViolations } from './axe.js'
import { sharedBrowser, Visit } from './visit.js'

type Claims = Readonly<Record<string, unknown>>

const OWNER: Claims = { sub: 'ada', member: 7 }
const EVERY_OWNER: Claims = { sub: 'root', role: 'Admin' }

/** Every route of `notes` demands the owner parameter `member` from whoever is no Admin. */
describe('the admin of an entity that demands its owner', () => {
  let database: FreshDatabase
  let stack: Stack
  let browser: Browser
  let visit: Visit
  /** Method, path and owner parameter of each request for notes. */
  let asked: string[]

  before(async () => {
    database = await freshDatabase('sqlite')
    stack = await startStack({ app: new URL('notes', import.meta.url), database, env: { ADMIN_UI: 'true' } })
    browser = await sharedBrowser()
  })
  after(async () => {
    await stack?.stop()
    await database?.dispose()
  })
  beforeEach(async () => {
    asked = []
    await sql('DELETE FROM notes')
    for (const [id, title, member] of [
      [1, 'Lamp oil', 7],
      [2, 'Milk', 8],
      [3, 'Matches', 7]
    ] as const) {
      await sql(
        "INSERT INTO notes (id, title, is_archived, member_id, row_version) VALUES (?, ?, 0, ?, x'0000000000000001')",
        [id, title, member]
      )
    }
  })
  afterEach(() => visit.context.close())

  const sql = (text: string, values: readonly (string | number)[] = []) =>
    withTestDatabase(database.url, (opened) => opened.run(text, values))

  const open = async (claims: Claims, path: string): Promise<Page> => {
    visit = await Visit.start(browser, { viewport: { width: 1280, height: 860 } })
    const cookies = await visit.context.request.post(`${stack.url}/auth/session-cookie`, {
      data: { accessToken: stack.token(claims) }
    })
    expect(cookies.status()).to.equal(204)
    visit.context.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.startsWith('/notes')) {
        asked.push(`${request.method()} ${pathname} ${searchParams.getAll('member').join()}`)
      }
    })
    return await visit.open(`${stack.url}/admin/#${path}`)
  }
  const titles = async (page: Page): Promise<string[]> => {
    await page.getByRole('columnheader', { name: 'Title' }).waitFor()
    return (await page.locator('td.column-title').allInnerTexts()).toSorted()
  }

  it('lists, changes, acts on and deletes the rows of a caller who is one owner', async () => {
    const page = await open(OWNER, '/notes')
    // The row is read late: a form of the row as the list had it would lose what is typed.
    await page.route('**/notes/1?*', async (route) => {
      if (route.request().method() === 'GET') await new Promise((resolve) => setTimeout(resolve, 1000))
      await route.continue()
    })
    expect(await titles(page)).to.deep.equal(['Lamp oil', 'Matches'])
    await page.getByRole('cell', { name: 'Lamp oil', exact: true }).click()
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
    await page.getByText('Archive the note: done').waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('Lamp')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.show-page').getByText('Lamp', { exact: true }).waitFor()
    expect(await sql('SELECT title, is_archived FROM notes WHERE id = 1')).to.deep.equal([
      { title: 'Lamp', is_archived: 1n }
    ])
    await page.getByRole('button', { name: 'Delete the note' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the note' }).click()
    await page.getByRole('link', { name: 'Create' }).click()
    // The list has another element of this label until the form is there: the button that sorts.
    await page.getByRole('textbox', { name: 'Title' }).fill('Wicks')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: /Wicks$/ }).waitFor()
    expect(await sql('SELECT title, member_id FROM notes ORDER BY title')).to.deep.equal([
      { title: 'Matches', member_id: 7n },
      { title: 'Milk', member_id: 8n },
      { title: 'Wicks', member_id: 7n }
    ])
    expect(asked).to.include.members([
      'GET /notes/paged 7',
      'GET /notes/1 7',
      'PUT /notes/1/archive 7',
      'PATCH /notes/1 7',
      'DELETE /notes/1 7',
      'POST /notes 7'
    ])
    expect(asked.filter((one) => !one.endsWith(' 7'))).to.deep.equal([])
  })

  it('asks a caller who may name any owner which, before it asks for rows', async () => {
    const page = await open(EVERY_OWNER, '/notes')
    await page.getByRole('heading', { name: 'Whose rows?' }).waitFor()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('Required').waitFor()
    expect(asked).to.deep.equal([])

    await page.getByLabel('Member id').fill('8')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await titles(page)).to.deep.equal(['Milk'])
    expect(asked).to.deep.equal(['GET /notes/paged 8'])
    // The choice is a part of the address.
    await page.reload()
    expect(await titles(page)).to.deep.equal(['Milk'])
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    await download
    expect(asked).to.deep.equal(['GET /notes/paged 8', 'GET /notes/paged 8', 'GET /notes/export 8'])

    await page.getByRole('button', { name: 'Choose another owner: Member id 8' }).click()
    await page.getByRole('button', { name: 'Rows of every owner' }).click()
    expect(await titles(page)).to.deep.equal(['Lamp oil', 'Matches', 'Milk'])
    expect(asked.slice(3)).to.deep.equal(['GET /notes/paged '])
  })

  it('proposes the own rows to a caller who may name any owner and is one', async () => {
    const page = await open({ ...EVERY_OWNER, member: 7 }, '/notes')
    await page.getByRole('heading', { name: 'Whose rows?' }).waitFor()
    expect(await page.getByLabel('Member id').inputValue()).to.equal('7')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await titles(page)).to.deep.equal(['Lamp oil', 'Matches'])
    expect(asked).to.deep.equal(['GET /notes/paged 7'])
  })
})
