import { createHash } from 'node:crypto'
import { LOOK } from '../../shared/look.js'

/** The styles of every page of the gateway's own. */
const STYLE = `
${LOOK}
body { background: var(--paper); color: var(--ink); font: 1rem/1.55 var(--sans); max-width: 56rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
a { color: var(--accent); }
code { background: var(--tint); padding: 0 .2em; border-radius: .2em; }
pre { background: var(--tint); padding: .75rem; border-radius: calc(var(--round) / 2); white-space: pre-wrap; }
pre code { background: none; padding: 0; }
section { border-top: 1px solid var(--line); margin-top: 2.5rem; }
figure { margin: 1rem 0; }
figcaption { color: var(--quiet); }
input[type=search] { box-sizing: border-box; width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--quiet); border-radius: calc(var(--round) / 2); padding: .5rem .75rem; }
[hidden] { display: none; }
.quiet { color: var(--quiet); font-size: .875rem; margin: 0; }
.docs { max-width: 82rem; margin-top: 1rem; }
.docs header a { display: inline-block; margin-right: 1rem; }
.docs nav ul, #index { list-style: none; padding: 0; }
.docs nav a[aria-current] { font-weight: bold; text-decoration: none; }
#index li { border-top: 1px solid var(--line); padding: .6rem 0; content-visibility: auto; contain-intrinsic-size: auto 7rem; }
@media (min-width: 60.01rem) {
  .docs { display: grid; grid-template-columns: 15rem minmax(0, 1fr); column-gap: 2.5rem; align-items: start; }
  .docs header { grid-column: 1 / -1; }
  .docs main { grid-area: 2 / 2; }
  .docs > nav { grid-area: 2 / 1; position: sticky; top: 0; max-height: 100vh; overflow: auto; }
}
table { border-collapse: collapse; }
td, th { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top; }
td:last-child, th:last-child { padding-right: 0; }
h3 { margin-bottom: .2rem; }
svg { max-width: 100%; height: auto; }
@media (max-width: 40rem) {
  th { display: none; }
  tr, td { display: block; }
  td { padding: 0 0 0 1rem; }
  td:first-child { padding: .6rem 0 0; }
}
`

/** HTML before and after what a page is about. */
interface PageFrame {
  readonly before: string
  readonly after: string
}

/** A page. `body` and `frame` are HTML: the caller has escaped all texts in them with `escapeHtml`. */
export function htmlPage(title: string, body: string, frame?: PageFrame): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
${frame === undefined ? '<body>' : `<body class="docs">\n${frame.before}`}
<main>
${body}
</main>${frame === undefined ? '' : `\n${frame.after}`}
</body>
</html>
`
}

/** What a content security policy names the styles of `htmlPage` by (CSP Level 3 section 2.3.1). */
export const PAGE_STYLE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`

/** The content security policy of a page of the gateway. It allows only what the directives that are given allow. */
export function pagePolicy(...allowed: readonly string[]): string {
  const always = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  return ["default-src 'none'", ...allowed, always].join('; ')
}

/** The headers of a page. Its content security policy allows nothing but the page's own styles. */
export const HTML_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': pagePolicy(`style-src ${PAGE_STYLE}`),
  'cache-control': 'no-cache'
} as const

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}

export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`
}

/** `html` is the link's content, already escaped. */
export function link(href: string, html: string): string {
  return `<a href="${escapeHtml(href)}">${html}</a>`
}

/** A table of cells that are HTML. The first row is the header. */
export function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: 'td' | 'th'): string =>
    `<tr>${cells.map((cell) => (tag === 'th' ? `<th scope="col">${cell}</th>` : `<td>${cell}</td>`)).join('')}</tr>`
  return `<table>\n${[row(head, 'th'), ...rows.map((cells) => row(cells, 'td'))].join('\n')}\n</table>`
}

/** HTML of a plain text in which backticks mark code. */
export function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>')
}
