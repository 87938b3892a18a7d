/** `Released at` of `releasedAt`, `Purchase orders` of `purchase-orders`. */
export function inWords(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll('-', ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** `purchase order` of `purchase-orders`, `category` of `categories`: as messages of the service call a row. */
export function singular(resource: string): string {
  return resource.replaceAll('-', ' ').replace(/ies$/, 'y').replace(/s$/, '')
}

/** What a button does: `Cancel the order`; `Add variant` where the name of the action says what it is done to. */
export function deedText(action: string, resource: string): string {
  return action.includes('-') ? inWords(action) : `${inWords(action)} the ${singular(resource)}`
}

/** The name of an operator as filters write it: `startsWith` of `starts with`. */
export function operatorKey(operator: string): string {
  return operator.replace(/ ([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}

/** A value for people; an em dash where there is none, which an empty text is not. */
export function valueText(value: unknown, type: string): string {
  if (value === null || value === undefined) return '—'
  if (value === '') return '(empty text)'
  if (type === 'dateTime' && typeof value === 'string') return momentText(value)
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** In the time zone and the form of the browser. */
function momentText(text: string): string {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? text : MOMENT.format(at)
}

/** The moment of an input without a time zone, which means that of the browser. */
export function momentOf(text: string): string {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? text : at.toISOString()
}

/** The id of a child with the first texts of it. */
export function childText(child: object): string {
  const texts = Object.entries(child).filter(([name, value]) => name !== 'rowVersion' && typeof value !== 'object')
  return texts
    .slice(0, 3)
    .map(([, value]) => valueText(value, 'string'))
    .join(', ')
}
