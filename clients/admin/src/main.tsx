import createCache from '@emotion/cache'
import { CacheProvider } from '@emotion/react'
import { type ApplicationTypes, type Client, createClient } from '@uniform-rest/client'
import { type AnyApplication, uniformRestAuthProvider, uniformRestDataProvider } from '@uniform-rest/react-admin'
import type { ReactElement, ReactNode } from 'react'
import { Admin, type AuthProvider, CustomRoutes, memoryStore, Resource as AdminResource } from 'react-admin'
import { createRoot } from 'react-dom/client'
import { Route } from 'react-router-dom'
import { AccountList, AccountPage, type AccountTypes } from './accounts.js'
import { Catalogue, type CatalogueAnswer, type Resource, titleOf } from './catalogue.js'
import { EntityCreate, EntityEdit } from './forms.js'
import { darkTheme, layoutWith, NothingHere, theme } from './layout.js'
import { EntityList } from './list.js'
import { LoginPage } from './login.js'
import { countedByMonth, Overview } from './overview.js'
import { fetchAsOwner, ofChosenOwner } from './owner.js'
import { EntityShow } from './show.js'

/** The types of the one call that is no operation of the application. */
interface WithCatalogue extends ApplicationTypes {
  readonly resources: AnyApplication['resources']
  readonly operations: {
    readonly 'GET /admin/catalogue.json': {
      readonly path: Record<never, never>
      readonly query: Record<never, never>
      readonly body: never
      readonly answer: CatalogueAnswer
    }
  }
}

interface ApplicationProps {
  readonly baseUrl: string
  /** The site of the OpenID provider that people sign in with; undefined for none. */
  readonly signInSite: string | undefined
}

/** The admin of the gateway at `baseUrl`, out of the catalogue that the signed-in caller sees. */
function makeApplication({ baseUrl, signInSite }: ApplicationProps): ReactElement {
  // Both are filled when the catalogue is there, which is before the first read.
  let catalogue = new Catalogue({ resources: [], operations: [], owner: '', everyOwner: false })
  const compositeKeys: Record<string, readonly string[]> = {}
  const client = createClient<AnyApplication>({
    baseUrl,
    token: 'session',
    fetch: fetchAsOwner(baseUrl, () => catalogue)
  })
  const dataProvider = ofChosenOwner(
    uniformRestDataProvider<AnyApplication>({ client, compositeKeys }),
    () => catalogue
  )
  const authProvider: AuthProvider = {
    ...uniformRestAuthProvider<AnyApplication>({ client }),
    /** react-admin asks after each sign-in, and makes the resources of what is answered. */
    async getPermissions() {
      // The client calls any route in this way; only the types name the operations of an application.
      const calls = client as unknown as ReturnType<typeof createClient<WithCatalogue>>
      catalogue = new Catalogue(await calls.call('GET /admin/catalogue.json', {}))
      for (const { name, key } of catalogue.resources) if (key.length !== 1) compositeKeys[name] = key
      return catalogue
    }
  }
  const layout = layoutWith({
    baseUrl,
    catalogue: () => catalogue,
    hasOverview: () => countedByMonth(catalogue).length > 0,
    hasAccounts: () => managesAccounts(catalogue)
  })
  return (
    <Admin
      title="Admin"
      dataProvider={dataProvider}
      authProvider={authProvider}
      loginPage={<LoginPage baseUrl={baseUrl} signInSite={signInSite} />}
      layout={layout}
      catchAll={NothingHere}
      theme={theme}
      darkTheme={darkTheme}
      // What people filter by is nothing to be kept in a browser.
      store={memoryStore()}
      requireAuth
      disableTelemetry
    >
      {(found: unknown) => (found instanceof Catalogue ? pagesOf(found, client) : [])}
    </Admin>
  )
}

function managesAccounts({ operations }: Catalogue): boolean {
  return ['GET /accounts', 'GET /accounts/{id}'].every((operation) => operations.includes(operation))
}

/** The first page is that of the first resource where there is nothing to count. */
function pagesOf(catalogue: Catalogue, client: Client<AccountTypes>): ReactNode[] {
  const first = (
    <CustomRoutes key="overview">
      <Route path="/" element={<Overview catalogue={catalogue} />} />
    </CustomRoutes>
  )
  const ofAccounts = { client, allows: (operation: string) => catalogue.operations.includes(operation) }
  const accounts = (
    <CustomRoutes key="accounts">
      <Route path="/accounts" element={<AccountList {...ofAccounts} />} />
      <Route path="/accounts/:id" element={<AccountPage {...ofAccounts} />} />
    </CustomRoutes>
  )
  return [
    ...(countedByMonth(catalogue).length === 0 ? [] : [first]),
    ...catalogue.resources.map((one) => entity(one, catalogue)),
    ...(managesAccounts(catalogue) ? [accounts] : [])
  ]
}

/** The pages of a resource that the caller may open. A resource without a page only lends its names to references. */
function entity(resource: Resource, catalogue: Catalogue): ReactNode {
  const { name, label } = resource
  const allows = (operation: string): boolean => catalogue.allows(name, operation)
  const of = { resource, catalogue }
  return (
    <AdminResource
      key={name}
      name={name}
      options={{ label: titleOf(resource) }}
      recordRepresentation={label}
      {...(allows('paged') ? { list: <EntityList {...of} /> } : {})}
      {...(allows('get') ? { show: <EntityShow {...of} /> } : {})}
      {...(allows('get') && allows('update') ? { edit: <EntityEdit {...of} /> } : {})}
      {...(allows('create') ? { create: <EntityCreate {...of} /> } : {})}
    >
      <Route path="*" element={<NothingHere />} />
    </AdminResource>
  )
}

const root = document.querySelector<HTMLElement>('#root')
if (root === null) throw new Error('The page has no place for the admin.')
// The page allows no styles but those with its nonce, which the gateway wrote beside its one script.
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
const styles = createCache({ key: 'admin', nonce, prepend: true })
// The page is `/admin/` below the base of the API.
const baseUrl = location.origin + location.pathname.replace(/\/admin\/$/, '')
const application = makeApplication({ baseUrl, signInSite: root.dataset['signInSite'] })

createRoot(root).render(<CacheProvider value={styles}>{application}</CacheProvider>)
