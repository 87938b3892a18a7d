/// <reference lib="dom" />
// The script of `GET /docs/search`, which the page holds itself. It shows the entries of the page that contain every word of the
// field, and puts those first whose name begins with it. It sends nothing.

interface Entry {
  readonly item: HTMLElement
  readonly name: string
  /** Everything that is searched, in small letters. */
  readonly text: string
}

const field = document.querySelector<HTMLInputElement>('#words')
const list = document.querySelector('#index')
const status = document.querySelector('#count')

if (field !== null && list !== null && status !== null) {
  const entries = Array.from(list.querySelectorAll<HTMLElement>(':scope > li'), (item): Entry => {
    const name = item.querySelector('a')?.textContent ?? ''
    return { item, name: name.toLowerCase(), text: (item.textContent ?? '').toLowerCase() }
  })
  const search = (): void => {
    const words = field.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    const rank = ({ name }: Entry): number => {
      const [first = ''] = words
      return name === first ? 0 : name.startsWith(first) ? 1 : words.every((word) => name.includes(word)) ? 2 : 3
    }
    const found = entries.filter(({ text }) => words.every((word) => text.includes(word)))
    const shown = new Set(found.map(({ item }) => item))
    for (const { item } of entries) item.hidden = !shown.has(item)
    list.append(...found.toSorted((one, other) => rank(one) - rank(other)).map(({ item }) => item))
    status.textContent = `${found.length} of ${entries.length} shown`
  }
  field.addEventListener('input', search)
  field.addEventListener('keydown', ({ key }) => {
    const first = list.querySelector<HTMLAnchorElement>(':scope > li:not([hidden]) a')
    if (key === 'Enter' && first !== null) location.assign(first.href)
  })
  // A browser that comes back to the page fills the field again.
  addEventListener('pageshow', search)
  if (field.parentElement !== null) field.parentElement.hidden = false
  field.focus()
}
