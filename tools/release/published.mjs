import { posix } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { parse } from 'acorn'
import { transform } from 'esbuild'

/**
 * Code as it is but for comments and spaces, names and lines included, so that stacks and messages can be found in it.
 *
 * @param {string} code
 */
export async function publishedCode(code) {
  const said = await transform(code, { format: 'esm', target: 'es2023', legalComments: 'none', charset: 'utf8' })
  return withoutSpaces(said.code)
}

/**
 * Code without comments, and without the spaces between tokens that it does not need.
 *
 * @param {string} code
 */
function withoutSpaces(code) {
  let tight = ''
  let end = 0
  const take = (/** @type {number} */ start, /** @type {number} */ next) => {
    const space = code.slice(end, start).replaceAll(COMMENT, '')
    const isNeeded = NEEDED.test(code.slice(end - 1, end) + code.slice(start, start + 1))
    const oneLine = isNeeded && start > end ? ' ' : ''
    tight += (/^ *$/.test(space) ? oneLine : space.replaceAll(/\n\s+/g, '\n')) + code.slice(start, next)
    end = next
  }
  parse(code, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    onToken: (token) => take(token.start, token.end)
  })
  take(code.length, code.length)
  return tight
}

/** What esbuild leaves between the parts of an expression, but for what it says to bundlers. */
const COMMENT = /\/\*(?! ?[@#]__)[\s\S]*?\*\/|\/\/.*/g

/** Two characters that would be another token without the space: of two words, of a number or of an operator. */
const NEEDED = /[\w$\u0080-\uffff]{2}|[-+/.]/

/**
 * Declarations without comments, for those that an editor shows to nobody.
 *
 * @param {string} declarations
 */
export function withoutComments(declarations) {
  return declarations.replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, '')
}

/**
 * What was compressed in a hurry while it was built, as small as Brotli makes it.
 *
 * @param {Buffer} compressed
 */
export function smallest(compressed) {
  const content = brotliDecompressSync(compressed)
  const { BROTLI_PARAM_LGWIN, BROTLI_MAX_WINDOW_BITS, BROTLI_PARAM_SIZE_HINT } = constants
  const params = { [BROTLI_PARAM_LGWIN]: BROTLI_MAX_WINDOW_BITS, [BROTLI_PARAM_SIZE_HINT]: content.length }
  return brotliCompressSync(content, { params })
}

/** A block of code, in which brackets are no link. */
const BLOCK = /(^```[\s\S]*?^```)/m
const PICTURE = /!\[([^\]]*)\]\([^)\s]+\.png\)/g
const LINK = /(?<![\w)\]!])\[([^[\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)/g

/**
 * A page without what is in the repository alone: a picture is named, and a link leads to the repository, or is its text where
 * the address of the repository is not known.
 *
 * @param {string} page
 * @param {{ path: string, published: ReadonlySet<string>, source: string | undefined }} about where the page is, the files and
 *   folders that are published with it, and the address of the same files in the repository
 */
export function publishedPage(page, { path, published, source }) {
  /** @type {(link: string, text: string, target: string) => string} */
  const followed = (link, text, target) => {
    const place = posix.join(posix.dirname(path), target)
    const [file = ''] = place.split('#')
    if (published.has(file.replace(/\/$/, ''))) return link
    if (source !== undefined) return `[${text}](${source}/${place})`
    // A number says nothing without the link.
    return /^\d+$/.test(text) ? `decision ${text}` : text
  }
  const parts = page.replaceAll(PICTURE, '(Picture: $1)').split(BLOCK)
  return parts.map((part) => (part.startsWith('```') ? part : part.replaceAll(LINK, followed))).join('')
}

/**
 * The pages about the repository, by what the page with all chapters lists last: they are read there.
 *
 * @param {string} chapters docs/README.md
 */
export function pagesOfRepository(chapters) {
  const [, section = ''] =
    /^## You want to know why, or to change the code\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(chapters) ?? []
  return Array.from(section.matchAll(/\]\(([^)#\s]+)\)/g), ([, target = '']) => posix.join('docs', target))
}
