import { existing } from './element.js'

const SHOWN_FOR = 6000
let timer: number | undefined

/** Shows a message at the lower edge of the page for six seconds. Screen readers read it out. */
export function say(...parts: readonly (Node | string)[]): void {
  const place = existing('#said', HTMLElement)
  place.replaceChildren(...parts)
  window.clearTimeout(timer)
  timer = window.setTimeout(() => place.replaceChildren(), SHOWN_FOR)
}
