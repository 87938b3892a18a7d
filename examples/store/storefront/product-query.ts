import type { ProductQuery, ProductSort } from './store-api.js'

const SORTS: readonly ProductSort[] = ['-releasedAt', 'name', 'price', '-price']

/** What a visitor asks for; anything odd is as if it were not there. */
export function productQuery(query: Readonly<Record<string, string | string[] | undefined>>): ProductQuery {
  const one = (name: string): string => {
    const value = query[name]
    return typeof value === 'string' ? value.trim().slice(0, 200) : ''
  }
  const page = /^[1-9]\d{0,5}$/.test(one('page')) ? Number(one('page')) : 1
  return {
    search: one('search'),
    category: /^\d{1,9}$/.test(one('category')) ? one('category') : '',
    sort: SORTS.find((sort) => sort === one('sort')) ?? '-releasedAt',
    page
  }
}
