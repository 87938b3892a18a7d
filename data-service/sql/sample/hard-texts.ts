/**
 * Names that real data holds and that careless code trips over, 1 to 200 characters each. Neighbours that differ in
 * little are meant to: letter case, accents, trailing spaces.
 */
export const HARD_TEXTS: readonly string[] = [
  // Other scripts, right to left, characters beyond 16 bits.
  'Ёлка «Снежинка»',
  '日本の包丁',
  '대나무 찜기',
  'قهوة عربية',
  'חנוכיית פליז',
  'Größe XXL Überwurf',
  'Ελληνικό λάδι',
  'चाय की केतली',
  'Ski 🎿 for the family 👨‍👩‍👧‍👦',
  '𝒟eluxe 𝟙𝟚',
  // Quotes, separators and line breaks of CSV, JSON and SQL.
  'The "Classic" mug',
  "O'Brien's stout glass",
  'Salt, pepper, and more',
  'Semicolon; separated',
  'Two\nlines',
  'Carriage\r\nreturn',
  'Tab\tin the middle',
  '"quoted"',
  "Robert'); DROP TABLE products;--",
  'back\\slash \\n',
  '<b>bold</b> & co',
  '{"json": [1, 2]}',
  '$f0 :name ? placeholder',
  'null',
  // What a spreadsheet would run.
  '=SUM(A1:A9)',
  '-40 °C parka',
  '+1 adapter',
  '@home sign',
  '\tleading tab',
  '# number sign',
  // What LIKE would take for a pattern.
  '100% cotton shirt',
  '%',
  '_',
  'snake_case ruler',
  'snakeXcase ruler',
  '50%_off\\',
  // Twins.
  'Tea Pot',
  'tea pot',
  'TEA POT',
  'Café table',
  'Cafe table',
  'CAFÉ TABLE',
  'Résumé folder',
  'Resume folder',
  'Trailing space',
  'Trailing space ',
  'Trailing space  ',
  ' Leading space',
  // Numbers that look like other things, and the bounds of length.
  '007',
  '1e3',
  '9007199254740993',
  'true',
  'x',
  'Long name '.repeat(20)
]

const EVERY = 20

/** Every twentieth id, or as many as `every` says, takes the next hard text; the others none. */
export function hardText(id: number, every = EVERY): string | undefined {
  return id % every === 0 ? HARD_TEXTS[(id / every - 1) % HARD_TEXTS.length] : undefined
}
