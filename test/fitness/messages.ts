import { type AnyNode, type Expression, parse, type PrivateIdentifier, type TemplateLiteral } from 'acorn'
import { fullAncestor } from 'acorn-walk'
import { transform } from 'esbuild'
import { ADMIN, REACT_ADMIN, type SourceFile, sourceFiles } from './source-files.js'

/** The folders whose texts are in one list, by the name of the list. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  admin: [ADMIN, REACT_ADMIN],
  'both-processes': ['shared'],
  'command-line': ['cli', 'schema'],
  'data-service': ['data-service'],
  gateway: ['gateway']
}

/**
 * A list for each part, in the form that translators take (`.pot` of gettext). `{name}` stands for what a text gets when it is
 * shown. Lines of the log are in none.
 */
export async function messageLists(): Promise<ReadonlyMap<string, string>> {
  const lists = Object.entries(PARTS).map(async ([part, folders]) => {
    const sources = sourceFiles(...folders).filter(({ path }) => !path.startsWith('cli/template/'))
    const found = await Promise.all(sources.map(async (file) => [file.path, await messagesIn(file, part)] as const))
    const places = new Map<string, Set<string>>()
    for (const [path, texts] of found) {
      for (const text of texts) places.set(text, (places.get(text) ?? new Set()).add(path))
    }
    const entries = Array.from(places, ([text, paths]) => {
      const references = Array.from(paths, (path) => `#: ${path}\n`).join('')
      return `${references}msgid ${JSON.stringify(text)}\nmsgstr ""\n`
    })
    return [`docs/messages/${part}.pot`, `${HEAD}${entries.join('\n')}`] as const
  })
  return new Map(await Promise.all(lists))
}

const HEAD = `# Made by "npm run messages"; docs/messages/README.md says how to use it.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"

`

/** Texts of a file for people: sentences, what errors are made of, and what pages show. */
async function messagesIn({ path, text }: SourceFile, part: string): Promise<string[]> {
  const { code } = await transform(text, { loader: path.endsWith('x') ? 'tsx' : 'ts', charset: 'utf8' })
  const found: string[] = []
  fullAncestor(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), (node, _state, ancestors) => {
    const whole = textOf(node)
    const parent = ancestors.at(-2)
    // A part of a text is found with the whole one.
    if (whole === undefined || parent === undefined || (isSum(parent) && textOf(parent) !== undefined)) return
    if (isNoText(node, parent) || ancestors.some(isLog)) return
    const isHtml = path.startsWith('gateway/') && /<[/!a-z]/.test(whole)
    const pieces = isHtml ? whole.split(/<[^>]*>/).map((one) => one.replaceAll(/\s+/g, ' ')) : [whole]
    for (const piece of pieces.map((one) => one.trim())) {
      const isMessage =
        isSentence(piece) ||
        (hasWords(piece) && (ancestors.some(isError) || (path.startsWith('cli/') && isPhrase(piece)))) ||
        ((isHtml || part === 'admin') && isLabel(piece))
      if (isMessage && !isCode(piece)) found.push(piece)
    }
  })
  return found
}

/** The text with a placeholder for each value in it; undefined for what is none. */
function textOf(node: AnyNode | PrivateIdentifier): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node.type === 'TemplateLiteral') return templateText(node)
  if (!isSum(node)) return undefined
  const [left, right] = [textOf(node.left), textOf(node.right)]
  if (left === undefined && right === undefined) return undefined
  return (left ?? placeholder(node.left)) + (right ?? placeholder(node.right))
}

function templateText({ quasis, expressions }: TemplateLiteral): string {
  return quasis
    .map(({ value }, at) => {
      const expression = expressions[at]
      return `${value.cooked ?? ''}${expression === undefined ? '' : placeholder(expression)}`
    })
    .join('')
}

function isSum(node: AnyNode | PrivateIdentifier): node is Extract<AnyNode, { type: 'BinaryExpression' }> {
  return node.type === 'BinaryExpression' && node.operator === '+'
}

/** `{name}`, by the last name in the expression. */
function placeholder(node: Expression | PrivateIdentifier): string {
  switch (node.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      // A digit at the end is esbuild's, of a name that an outer scope has too.
      return `{${node.name.replace(/\d$/, '')}}`
    case 'MemberExpression':
      return placeholder(node.property)
    case 'CallExpression': {
      const [argument] = node.arguments
      const isNamed = argument?.type === 'Identifier' || argument?.type === 'MemberExpression'
      if (isNamed) return placeholder(argument)
      return node.callee.type === 'Super' ? '{value}' : placeholder(node.callee)
    }
    default:
      return '{value}'
  }
}

/** Names of modules and properties, and what a value is compared with. */
function isNoText(node: AnyNode, parent: AnyNode): boolean {
  switch (parent.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
    case 'TaggedTemplateExpression':
      return true
    case 'Property':
      return parent.key === node
    case 'BinaryExpression':
      return parent.operator !== '+'
    case 'SwitchCase':
      return parent.test === node
    default:
      return false
  }
}

const LEVELS: ReadonlySet<string> = new Set(['trace', 'debug', 'info', 'warn', 'fatal'])

function isLog(node: AnyNode): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false
  const { object, property } = node.callee
  if (property.type !== 'Identifier') return false
  const logger = object.type === 'MemberExpression' ? object.property : object
  const isLogger =
    (logger.type === 'Identifier' || logger.type === 'PrivateIdentifier') && /^log$|Log$/.test(logger.name)
  return LEVELS.has(property.name) || (property.name === 'error' && isLogger)
}

/** An error that is made, or a call of a function that makes one. */
function isError(node: AnyNode): boolean {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return false
  return node.callee.type === 'Identifier' && /Error$|^rejection|^malformed$|^violation|^invalid/.test(node.callee.name)
}

function withoutPlaceholders(text: string): string {
  return text.replaceAll(/\{\w+\}/g, '')
}

function hasWords(text: string): boolean {
  return /\p{L}{2,}[^\p{L}]* \P{L}*\p{L}/u.test(withoutPlaceholders(text))
}

function isSentence(text: string): boolean {
  return /^[\p{Lu}{`"'(]/u.test(text) && /[.?!:…][)"]?$/.test(text) && hasWords(text)
}

/** What a command prints in a line with other texts, or says of itself. */
function isPhrase(text: string): boolean {
  return (text.match(/\p{L}{2,}/gu) ?? []).length >= 4
}

/** A title, or what a button or a column is called. */
function isLabel(text: string): boolean {
  return /^\p{Lu}\p{Ll}+(?:[ ,.'’…]|$)/u.test(text)
}

/** A statement of SQL, a style sheet, or a header of HTTP. */
function isCode(text: string): boolean {
  return /^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|SHOW|SET|WITH|FROM|PRAGMA|CALL|START) |[;{] ?[\w-]+: |^[A-Z][\w-]+-[\w-]+$|^Bearer /.test(
    text
  )
}
