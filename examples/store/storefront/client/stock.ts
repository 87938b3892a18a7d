import { callApi, callPage } from './api.js'
import { element } from './element.js'
import { euros } from './euros.js'
import { fillPrivatePlace } from './private-place.js'
import type { StockProduct, StockTotals } from './store-rows.js'

// The same request for everybody: the API leaves out what an account may not read, and so does the table.

const PAGE_SIZE = 50

const box = element('input', { type: 'search', 'aria-label': 'Search the stock list', placeholder: 'Name or article' })
const form = element('form', { class: 'filters' }, box, element('button', { type: 'submit' }, 'Search'))
const head = element('thead')
const body = element('tbody')
const more = element('button', { type: 'button', hidden: true }, 'More')
const totals = element('table', { class: 'stock-totals' })
const scrolled = (table: HTMLElement): HTMLElement => element('div', { class: 'scrolled' }, table)
const list = [scrolled(totals), form, scrolled(element('table', { class: 'stock' }, head, body)), more]
let next: string | undefined

form.addEventListener('submit', (event) => {
  event.preventDefault()
  next = undefined
  body.replaceChildren()
  void fillPrivatePlace(showMore)
})
more.addEventListener('click', () => void fillPrivatePlace(showMore))
void fillPrivatePlace(async () => {
  await showTotals()
  return showMore()
})

async function showTotals(): Promise<void> {
  const rows = await callApi<StockTotals[]>('/products/totals?by=isActive&sortColumn=isActive&sortDirection=desc')
  const columns: readonly Column<StockTotals>[] = [
    { title: 'Articles', text: ({ isActive }) => (isActive ? 'On sale' : 'Not on sale') },
    { title: 'Number', text: ({ count }) => String(count) },
    { title: 'Average price', text: (row) => amount(row['average.price']) },
    ...(rows.some((row) => 'sum.costPrice' in row)
      ? [{ title: 'Sum of costs', text: (row: StockTotals) => amount(row['sum.costPrice']) }]
      : [])
  ]
  totals.replaceChildren(
    element('thead', {}, element('tr', {}, ...columns.map(headCell))),
    element('tbody', {}, ...rows.map((row) => rowOf(row, columns)))
  )
}

/** Appends the page after the last one that is shown: by its cursor, so that the last page costs no more than the first. */
async function showMore(): Promise<readonly Node[]> {
  const query = new URLSearchParams({
    sortColumn: 'name',
    pageSize: String(PAGE_SIZE),
    includeTotal: 'false',
    ...(box.value.trim() === '' ? {} : { search: box.value }),
    ...(next === undefined ? {} : { after: next })
  })
  const page = await callPage<StockProduct>(`/products/paged?${query.toString()}`)
  next = page.next
  more.hidden = next === undefined
  const [first] = page.rows
  if (first !== undefined) head.replaceChildren(element('tr', {}, ...columnsOf(first).map(headCell)))
  body.append(...page.rows.map((row) => rowOf(row, columnsOf(row))))
  return list
}

interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
}

/** The columns that the API has answered. */
function columnsOf(row: StockProduct): readonly Column<StockProduct>[] {
  return [
    { title: 'Article', text: ({ sku }) => sku },
    { title: 'Name', text: ({ name }) => name },
    { title: 'Price', text: ({ price }) => euros(price) },
    ...('costPrice' in row ? [{ title: 'Cost', text: ({ costPrice }: StockProduct) => amount(costPrice) }] : []),
    ...('margin' in row ? [{ title: 'Margin', text: ({ margin }: StockProduct) => amount(margin) }] : []),
    ...('reorderLevel' in row
      ? [{ title: 'Reorder at', text: ({ reorderLevel }: StockProduct) => String(reorderLevel ?? '–') }]
      : [])
  ]
}

function amount(value: string | null | undefined): string {
  return value === null || value === undefined ? '–' : euros(value)
}

function headCell({ title }: { readonly title: string }): HTMLElement {
  return element('th', { scope: 'col' }, title)
}

function rowOf<Row>(row: Row, columns: readonly Column<Row>[]): HTMLElement {
  return element('tr', {}, ...columns.map(({ text }) => cell(text(row))))
}

function cell(text: string): HTMLElement {
  return element('td', { dir: 'auto' }, text)
}
