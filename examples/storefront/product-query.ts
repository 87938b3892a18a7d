import type { ProductQuery } from './store-api.js'

const MOST_PAGES = 100_000

/** What a visitor asks for; anything odd is as if it were not there. */
export function productQuery(query: Readonly<Record<string, string | string[] | undefined>>): ProductQuery {
  const one = (name: string): string => {
    const value = query[name]
    return typeof value === 'string' ? value.trim().slice(0, 200) : ''
  }
  const sort = one('sort')
  const page = /^[1-9]\d{0,5}$/.test(one('page')) ? Number(one('page')) : 1
  return {
    search: one('search'),
    category: /^\d{1,9}$/.test(one('category')) ? one('category') : '',
    sort: sort === 'price' || sort === '-price' ? sort : 'name',
    page: Math.min(page, MOST_PAGES)
  }
}
