import type { AuthProvider, DataProvider } from 'ra-core'
import {
  type AnyApplication,
  type FilterOf,
  uniformRestAuthProvider,
  uniformRestDataProvider
} from '../../clients/react-admin/src/react-admin.js'
import { createClient } from '../../clients/typescript/src/client.js'
import type { Application } from '../../examples/store/client-types.js'

// What must and must not compile with the providers of react-admin and the types of the store. The compiler of the build is
// the judge: nothing here runs.

const client = createClient<Application>()
const provider = uniformRestDataProvider({ client })

/** Both are what `<Admin>` takes. */
export const dataProvider: DataProvider = provider
export const authProvider: AuthProvider = uniformRestAuthProvider({ client })

/** An application whose types are not known has any resource. */
export const anyProvider: DataProvider = uniformRestDataProvider({
  client: createClient<AnyApplication>(),
  compositeKeys: { 'film-actors': ['actorId', 'filmId'] }
})

// @ts-expect-error there is no such resource
uniformRestDataProvider({ client, compositeKeys: { prodcts: ['id'] } })
// @ts-expect-error products cannot be sorted by their description
uniformRestDataProvider({ client, compositeKeys: { products: ['description'] } })
// @ts-expect-error there is no such resource
uniformRestDataProvider({ client, auditResource: 'trail' })

type ProductFilter = FilterOf<Application, 'products'>

export const filters: readonly ProductFilter[] = [
  {},
  { q: 'lamp', name: 'Pan', categoryId: [1, 4], barcode: null },
  { 'price.gte': '2.00', 'price.lt': 10, 'name.startsWith': 'C', 'barcode.isEmpty': false },
  { price: { gte: 2, lt: 10 }, name: [{ contains: 'a' }, { contains: 'b' }], 'id.in': [1, 2] },
  { anyOf: [{ 'price.lt': 10 }, { name: 'Pan' }] },
  // @ts-expect-error there is no such property
  { anyOf: [{ colour: 'red' }] },
  // @ts-expect-error a number contains nothing
  { anyOf: [{ 'price.contains': '2' }] },
  { 'price.between': [1, 2], 'releasedAt.isOnOrAfter': new Date(0) },
  // @ts-expect-error there is no such property
  { colour: 'red' },
  // @ts-expect-error a number contains nothing
  { 'price.contains': '2' },
  // @ts-expect-error a number contains nothing
  { price: { contains: '2' } },
  // @ts-expect-error the value has another type
  { isActive: 'yes' },
  // @ts-expect-error the value has another type
  { 'isActive.is': 'yes' },
  // @ts-expect-error a boolean has no list
  { isActive: [true, false] },
  // @ts-expect-error a list takes a list
  { 'id.in': 1 },
  // @ts-expect-error a range has two ends
  { 'price.between': [1] },
  // @ts-expect-error a computed property cannot be filtered
  { displayName: 'red' }
]

// @ts-expect-error stock items have nothing to search in
export const unsearchable: FilterOf<Application, 'stock-items'> = { q: 'x' }

export async function furtherMethods(): Promise<void> {
  const { data } = await provider.act('products', { id: 7, action: 'change-category', data: { categoryId: 2 } })
  const name: string = data.name
  await provider.act('products', { id: 7, action: 'publish', meta: { idempotencyKey: name } })
  // @ts-expect-error there is no such action
  await provider.act('products', { id: 7, action: 'explode' })
  // @ts-expect-error the body has another type
  await provider.act('products', { id: 7, action: 'change-category', data: { categoryId: true } })
  // @ts-expect-error there is no such resource
  await provider.act('prodcts', { id: 7, action: 'publish' })

  const exported = await provider.exportCsv('products', { filter: { 'price.lt': 2 }, fields: ['id', 'name'] })
  const isTruncated: boolean | undefined = exported.isTruncated
  void isTruncated
  // @ts-expect-error there is no such property
  await provider.exportCsv('products', { fields: ['colour'] })
  // @ts-expect-error a number contains nothing
  await provider.exportCsv('products', { filter: { 'price.contains': '2' } })

  const { data: choices } = await provider.lookup('products', { search: 'pan' })
  const id: number | undefined = choices[0]?.id
  void id
  const { data: entries } = await provider.history('products', { id: 7 })
  const subject: string | undefined = entries[0]?.subject
  void subject
}
