/** The tag of a version that no row has; of eight bytes, as all versions are. */
const OTHER = '//////////8='

export interface Precondition {
  readonly title: string
  /** undefined: no header at all; two: two lines. */
  readonly ifMatch: string | readonly string[] | undefined
}

/** Contract section 5: 428, and the action does not run. */
export const REQUIRED: readonly Precondition[] = [
  { title: 'absent', ifMatch: undefined },
  { title: 'empty', ifMatch: '' },
  { title: 'blank', ifMatch: '  ' },
  { title: 'a tab', ifMatch: '\t' },
  { title: '*', ifMatch: '*' },
  { title: '* with spaces', ifMatch: ' * ' }
]

/** 400, and the action does not run. `%` stands for the row's version, so that each would match if it were well-formed. */
export const MALFORMED: readonly Precondition[] = [
  { title: 'unquoted', ifMatch: '%' },
  { title: 'unquoted and weak', ifMatch: 'W/%' },
  { title: 'lower-case w/', ifMatch: 'w/"%"' },
  { title: 'a space after W/', ifMatch: 'W/ "%"' },
  { title: 'W without a slash', ifMatch: 'W"%"' },
  { title: 'a strong flag', ifMatch: 'S/"%"' },
  { title: 'single quotes', ifMatch: "'%'" },
  { title: 'no quote at the end', ifMatch: '"%' },
  { title: 'no quote at the start', ifMatch: '%"' },
  { title: 'nothing in quotes', ifMatch: '""' },
  { title: 'weak nothing', ifMatch: 'W/""' },
  { title: 'a space in quotes', ifMatch: '" "' },
  { title: 'spaces round the version', ifMatch: '" % "' },
  { title: 'no padding', ifMatch: '"AQAAAAAAAAE"' },
  { title: 'too much padding', ifMatch: '"AQAAAAAAAAE=="' },
  { title: 'padding alone', ifMatch: '"===="' },
  { title: 'bits after the end', ifMatch: '"AQAAAAAAAAF="' },
  { title: 'the URL alphabet', ifMatch: '"__________8="' },
  { title: 'a line break in it', ifMatch: '"AQAA AAAAAAE="' },
  { title: 'a letter that base64 has not', ifMatch: '"AQAAAAAAAA!="' },
  { title: 'escapes', ifMatch: '"\\%"' },
  { title: '* in quotes', ifMatch: '"*"' },
  { title: 'a list with *', ifMatch: '"%", *' },
  { title: '* and then a tag', ifMatch: '*, "%"' },
  { title: '* twice', ifMatch: '*, *' },
  { title: 'a list with an unquoted member', ifMatch: '"%", AAAA' },
  { title: 'a list with an undecodable member', ifMatch: '"A", W/"%"' },
  { title: 'a list without a comma', ifMatch: '"%" "%"' },
  { title: 'two lines, one bad', ifMatch: ['"%"', 'bad'] },
  { title: 'two lines, one *', ifMatch: ['"%"', '*'] }
]

/** Decodable, and none of them the row's version: the action runs, and is 412. */
export const STALE: readonly Precondition[] = [
  { title: 'another version', ifMatch: `W/"${OTHER}"` },
  { title: 'one byte', ifMatch: '"AA=="' },
  { title: 'seven of its bytes', ifMatch: '"AQAAAAAAAA=="' },
  { title: 'nine bytes that begin alike', ifMatch: '"AQAAAAAAAAEA"' },
  { title: 'a thousand bytes', ifMatch: `"${'A'.repeat(1336)}"` },
  { title: 'several', ifMatch: `W/"${OTHER}", "AA==",W/"AAAA"` }
]

/** They match: weak and strong alike, any member of a list, empty members aside. */
export const MATCHING: readonly Precondition[] = [
  { title: 'weak', ifMatch: 'W/"%"' },
  { title: 'strong', ifMatch: '"%"' },
  { title: 'with spaces around', ifMatch: ' \tW/"%" ' },
  { title: 'the first of a list', ifMatch: `"%", "${OTHER}"` },
  { title: 'the last of a list', ifMatch: `"AA==", W/"${OTHER}" , "%"` },
  { title: 'among empty members', ifMatch: ',, "%" ,' },
  { title: 'among a hundred', ifMatch: `${'"AAAA",'.repeat(99)}"%"` },
  { title: 'in one of two lines', ifMatch: ['"AAAA"', 'W/"%"'] }
]

/** With the version of a row in the place of `%`. */
export function withVersion(ifMatch: Precondition['ifMatch'], rowVersion: string): string[] | undefined {
  return ifMatch === undefined ? undefined : [ifMatch].flat().map((line) => line.replaceAll('%', rowVersion))
}
