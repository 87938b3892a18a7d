import { expect } from 'chai'
import {
  bool,
  dateTime,
  decimal,
  freeText,
  guid,
  int,
  long,
  money,
  optional,
  text
} from '../../../data-service/entity/fields/words.js'
import type { Field } from '../../../data-service/entity/fields/field.js'
import { Unmet } from '../../../data-service/entity/types/type-rules.js'
import { parseMember } from '../../../data-service/entity/types/types.js'
import { parseJson } from '../../../data-service/plan/parsing/json-body.js'

const parsed = (json: string, field: Field): unknown => parseMember(parseJson(Buffer.from(json)), field)
const guidText = '6f9619ff-8b86-d011-b42d-00c04fc964ff'

describe('parseMember', () => {
  const taken: readonly (readonly [string, Field, json: string, value: unknown])[] = [
    ['text', text(5), '"añ😀b "', 'añ😀b '],
    ['as many characters as fit, by code points', text(2), '"😀😀"', '😀😀'],
    ['empty free text', freeText(), '""', ''],
    ['null where it may be', optional(text(5)), 'null', null],
    ['a bool', bool(), 'false', false],
    ['an int', int(), '-7', -7],
    ['an int however it is written', int(), '1.50e1', 15],
    ['zero with any exponent', int(), '-0e999999999999', 0],
    ['the ends of int', int(), '-2147483648', -2147483648],
    ['a long as a string', long(), '"9223372036854775807"', '9223372036854775807'],
    ['a long with zeros before it', long(), '"-007"', '-7'],
    ['a long as a safe number', long(), '9007199254740991', '9007199254740991'],
    ['a decimal in the scale of its column', decimal(10, 2), '"19.9"', '19.90'],
    ['a decimal as a number', decimal(10, 2), '19.9', '19.90'],
    ['a decimal number with an exponent', decimal(10, 2), '1.5e3', '1500.00'],
    ['a small decimal number', decimal(10, 5), '12e-5', '0.00012'],
    ['a decimal number of 15 digits', decimal(18, 2), '1234567890123.45', '1234567890123.45'],
    ['a decimal string of 18 digits', decimal(18, 2), '"1234567890123456.78"', '1234567890123456.78'],
    ['a negative zero', money(10, 2), '"-0"', '0.00'],
    ['a date and time', dateTime(), '"2026-01-31T10:00:00.5+02:00"', '2026-01-31T08:00:00.500Z'],
    ['one without an offset as UTC', dateTime(), '"2026-01-31T10:00:00"', '2026-01-31T10:00:00.000Z'],
    ['a guid in any case', guid(), `"${guidText.toUpperCase()}"`, guidText]
  ]
  for (const [what, field, json, value] of taken) {
    it(`takes ${what}`, () => expect(parsed(json, field)).to.equal(value))
  }

  const rejected: readonly (readonly [string, Field, json: string, words: RegExp])[] = [
    ['null elsewhere', text(5), 'null', /not be null/],
    ['text that is too long', text(2), '"abc"', /have 1 to 2 characters/],
    ['empty text where it must not be', text(2), '""', /have 1 to 2 characters/],
    ['text with U+0000', text(5), String.raw`"a\u0000"`, /U\+0000/],
    ['half a surrogate pair', text(5), String.raw`"\ud83d"`, /half surrogate/],
    ['a number for text', text(5), '5', /be a string/],
    ['an object for text', text(5), '{}', /be a string/],
    ['a string for a bool', bool(), '"true"', /true or false/],
    ['a number for a bool', bool(), '1', /true or false/],
    ['a string for an int', int(), '"5"', /whole number/],
    ['a fraction for an int', int(), '1.5', /whole number/],
    ['an int beyond 32 bits', int(), '2147483648', /2147483647/],
    ['an int far beyond everything', int(), '1e999999999', /2147483647/],
    ['an int below its minimum', int({ min: 1 }), '0', /at least 1/],
    ['an int above its maximum', int({ max: 10_000 }), '10001', /at most 10000/],
    ['a long number that is not safe', long(), '9007199254740992', /string of digits/],
    ['a long beyond 64 bits', long(), '"9223372036854775808"', /9223372036854775807/],
    ['a long with a plus', long(), '"+1"', /string with a whole number/],
    ['a long with a point', long(), '"1.0"', /string with a whole number/],
    ['an array for a long', long(), '[1]', /string with a whole number/],
    ['more scale than the column has', decimal(10, 2), '"19.999"', /at most 2 digits after the point/],
    ['as much in zeros', decimal(10, 2), '"19.900"', /at most 2 digits after the point/],
    ['as much in a number', decimal(10, 2), '19.999', /at most 2 digits after the point/],
    ['more digits than the column has', decimal(4, 2), '"100"', /at most 2 digits before the point/],
    ['a decimal number of 16 digits', decimal(18, 2), '12345678901234.56', /string of digits/],
    ['a decimal far beyond everything', decimal(10, 2), '1e999999999', /decimal number/],
    ['a decimal string with an exponent', decimal(10, 2), '"1e2"', /decimal number/],
    ['a negative amount', money(10, 2), '"-0.01"', /at least 0/],
    ['blank for a decimal', decimal(10, 2), '" "', /decimal number/],
    ['a date alone', dateTime(), '"2026-01-31"', /date and time/],
    ['a day that is none', dateTime(), '"2026-02-30T00:00:00Z"', /date and time/],
    ['more than milliseconds', dateTime(), '"2026-01-31T10:00:00.0001Z"', /milliseconds/],
    ['a number for a date', dateTime(), '0', /date and time/],
    ['a guid without hyphens', guid(), `"${guidText.replaceAll('-', '')}"`, /GUID/]
  ]
  for (const [what, field, json, words] of rejected) {
    it(`rejects ${what}`, () => {
      const violation = parsed(json, field)
      expect(violation).to.be.instanceOf(Unmet).and.not.instanceOf(Error)
      expect((violation as Unmet).message).to.match(words)
    })
  }
})
