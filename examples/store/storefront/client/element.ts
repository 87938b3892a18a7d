type Attributes = Readonly<Record<string, string | number | boolean>>

/** A new element with attributes and children. Attributes that are false are left out. Strings become text, never HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(attribute, value === true ? '' : String(value))
  }
  made.append(...children)
  return made
}

/** An element of the page as the server rendered it. Throws an Error if there is none. */
export function existing<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector)
  if (found instanceof kind) return found
  throw new Error(`The page has no ${selector}.`)
}
