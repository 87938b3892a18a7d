import { type ApplicationTypes, createClient } from '@uniform-rest/client'
import { type AnyApplication, uniformRestAuthProvider, uniformRestDataProvider } from '@uniform-rest/react-admin'
import type { ReactElement, ReactNode } from 'react'
import { Admin, type AuthProvider, memoryStore, Resource as AdminResource } from 'react-admin'
import { Catalogue, type Resource } from './catalogue.js'
import { EntityCreate, EntityEdit } from './forms.js'
import { AdminLayout } from './layout.js'
import { EntityList } from './list.js'
import { LoginPage } from './login.js'
import type { AdminDataProvider } from './providers.js'
import { EntityShow } from './show.js'
import { theme } from './theme.js'
import { inWords } from './words.js'

/** The types of the one call that is no operation of the application. */
interface WithCatalogue extends ApplicationTypes {
  readonly resources: AnyApplication['resources']
  readonly operations: {
    readonly 'GET /admin/catalogue.json': {
      readonly path: Record<never, never>
      readonly query: Record<never, never>
      readonly body: never
      readonly answer: { readonly resources: readonly Resource[] }
    }
  }
}

/** The admin of the gateway at `baseUrl`, out of the catalogue that the signed-in caller sees. */
export function makeApplication(baseUrl: string): ReactElement {
  const client = createClient<AnyApplication>({ baseUrl, token: 'session' })
  // Filled when the catalogue is there, which is before the first read.
  const compositeKeys: Record<string, readonly string[]> = {}
  const dataProvider: AdminDataProvider = uniformRestDataProvider<AnyApplication>({ client, compositeKeys })
  const authProvider: AuthProvider = {
    ...uniformRestAuthProvider<AnyApplication>({ client }),
    /** react-admin asks after each sign-in, and makes the resources of what is answered. */
    async getPermissions() {
      // The client calls any route in this way; only the types name the operations of an application.
      const calls = client as unknown as ReturnType<typeof createClient<WithCatalogue>>
      const { resources } = await calls.call('GET /admin/catalogue.json', {})
      for (const { name, key } of resources) if (key.length > 1) compositeKeys[name] = key
      return new Catalogue(resources)
    }
  }
  return (
    <Admin
      title="Admin"
      dataProvider={dataProvider}
      authProvider={authProvider}
      loginPage={LoginPage}
      layout={AdminLayout}
      theme={theme}
      darkTheme={null}
      // What people filter by is nothing to be kept in a browser.
      store={memoryStore()}
      requireAuth
      disableTelemetry
    >
      {(catalogue: unknown) =>
        catalogue instanceof Catalogue ? catalogue.resources.map((one) => entity(one, catalogue)) : []
      }
    </Admin>
  )
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
      options={{ label: inWords(name) }}
      recordRepresentation={label}
      {...(allows('paged') ? { list: <EntityList {...of} /> } : {})}
      {...(allows('get') ? { show: <EntityShow {...of} /> } : {})}
      {...(allows('get') && allows('update') ? { edit: <EntityEdit {...of} /> } : {})}
      {...(allows('create') ? { create: <EntityCreate {...of} /> } : {})}
    />
  )
}
