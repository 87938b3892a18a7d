import { existing } from './element.js'

const SHOWN_FOR = 6000
let timer: number | undefined

/** Says something for a while, at the lower edge and to screen readers. */
export function say(...parts: readonly (Node | string)[]): void {
  const place = existing('#said', HTMLElement)
  place.replaceChildren(...parts)
  window.clearTimeout(timer)
  timer = window.setTimeout(() => place.replaceChildren(), SHOWN_FOR)
}
