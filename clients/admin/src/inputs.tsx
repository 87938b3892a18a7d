import { TextField } from '@mui/material'
import { type ReactElement, useState } from 'react'
import {
  BooleanInput,
  DateInput,
  DateTimeInput,
  maxLength,
  maxValue,
  minLength,
  minValue,
  NullableBooleanInput,
  NumberInput,
  PasswordInput,
  required,
  SelectArrayInput,
  SelectInput,
  TextInput,
  useInput,
  type Validator
} from 'react-admin'
import type { Catalogue, Property, WithReferences } from './catalogue.js'
import { referenceInput } from './references.js'
import { inWords, momentOf } from './words.js'

interface InputPlace {
  /** Where in the form the value is. */
  readonly source?: string
  /** Whether the form cannot be sent without it. */
  readonly isRequired: boolean
  /** Whether what is left out takes a default, so that nothing is chosen at first. */
  readonly isNew?: boolean
  /** The resource, or the children, that the property is one of; undefined where it is of neither. */
  readonly of?: { readonly owner: WithReferences; readonly catalogue: Catalogue }
}

/** The input of a property, with the rules that the catalogue knows. The service judges the value again. */
export function inputOf(property: Property, { source, isRequired, isNew = false, of }: InputPlace): ReactElement {
  const { name, type, nullable, words, writableBy } = property
  const notes = [property.description, writableBy === '' ? '' : `For those with ${writableBy}.`]
  const description = notes.filter((one) => one !== '').join(' ')
  const common = {
    key: name,
    source: source ?? name,
    label: of === undefined ? inWords(name) : of.catalogue.labelOf(of.owner, property),
    fullWidth: true,
    helperText: description === '' ? false : description,
    validate: rulesOf(property, isRequired)
  } as const
  const { key, ...props } = common
  const target = of?.catalogue.referenceOf(of.owner, property)
  if (target !== undefined) return referenceInput(target, key, props)
  switch (type) {
    case 'bool':
      return nullable || (isNew && !isRequired) ? (
        <NullableBooleanInput key={key} {...props} />
      ) : (
        <BooleanInput key={key} {...props} />
      )
    case 'int':
    case 'double':
      return <NumberInput key={key} {...props} step={type === 'int' ? 1 : 'any'} />
    case 'long':
    case 'decimal':
      // A number of JavaScript would lose digits.
      return <TextInput key={key} {...props} slotProps={{ htmlInput: { inputMode: 'decimal' } }} />
    case 'dateTime':
      // The input knows no time zone; without one the service would take its text as UTC, if it took it.
      return <DateTimeInput key={key} {...props} parse={(text: string) => (text === '' ? null : momentOf(text))} />
    case 'date':
      return <DateInput key={key} {...props} />
    case 'enum':
      return <SelectInput key={key} {...props} choices={choicesOf(words)} />
    case 'set':
      return <SelectArrayInput key={key} {...props} choices={choicesOf(words)} />
    case 'json':
      return <JsonInput key={key} source={props.source} label={props.label} isRequired={isRequired} />
    case 'string':
      if (property.writeOnly) return <PasswordInput key={key} {...props} autoComplete="new-password" />
      return <TextInput key={key} {...props} multiline={property.maxLength > LONGEST_LINE} />
    default:
      return <TextInput key={key} {...props} multiline={property.maxLength > LONGEST_LINE} />
  }
}

const LONGEST_LINE = 500

function choicesOf(words: readonly string[]): { readonly id: string; readonly name: string }[] {
  return words.map((word) => ({ id: word, name: word }))
}

/** Patterns of the texts that the service takes (contract.md section 3). */
const FORMS: Readonly<Record<string, readonly [pattern: RegExp, advice: string]>> = {
  long: [/^[+-]?\d{1,20}$/, 'Enter a whole number such as 42.'],
  decimal: [/^[+-]?\d+(?:\.\d+)?$/, 'Enter a number such as 12.50.'],
  time: [/^\d\d:\d\d:\d\d(?:\.\d+)?$/, 'Enter a time such as 09:30:00.'],
  guid: [/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i, '32 hexadecimal digits: 8-4-4-4-12'],
  binary: [/^[A-Za-z\d+/]*={0,2}$/, 'Base64'],
  base64url: [/^[\w-]*$/, 'Base64url without padding']
}

function matches(pattern: RegExp, advice: string): Validator {
  return (value: unknown) => (typeof value !== 'string' || value === '' || pattern.test(value) ? undefined : advice)
}

function rulesOf(property: Property, isRequired: boolean): Validator[] {
  const { type, minimum, maximum } = property
  const form = FORMS[type]
  const isNumber = type === 'int' || type === 'double'
  return [
    ...(isRequired && type !== 'bool' ? [required()] : []),
    ...(type === 'string' && property.maxLength > 0 ? [maxLength(property.maxLength)] : []),
    ...(type === 'string' && property.minLength > 1 ? [minLength(property.minLength)] : []),
    ...(isNumber && minimum !== '' ? [minValue(Number(minimum))] : []),
    ...(isNumber && maximum !== '' ? [maxValue(Number(maximum))] : []),
    ...(form === undefined ? [] : [matches(...form)])
  ]
}

interface JsonInputProps {
  readonly source: string
  readonly label: string
  readonly isRequired: boolean
}

/** A value that is no JSON yet: a form that holds one is not sent. */
class Unfinished {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The input of any JSON value, as text. */
export function JsonInput({ source, label, isRequired }: JsonInputProps): ReactElement {
  const validate = (value: unknown): string | undefined =>
    value instanceof Unfinished
      ? 'Enter JSON such as {"a": 1}.'
      : isRequired && value === undefined
        ? 'Required'
        : undefined
  const { field, fieldState, id } = useInput<{ [name: string]: unknown }>({
    source,
    validate,
    format: (value: unknown) => value
  })
  const [text, setText] = useState(() => (field.value === undefined ? '' : JSON.stringify(field.value, undefined, 2)))
  const change = (next: string): void => {
    setText(next)
    field.onChange(parsed(next))
  }
  return (
    <TextField
      id={id}
      label={label}
      value={text}
      onChange={(event) => change(event.target.value)}
      onBlur={field.onBlur}
      error={fieldState.invalid}
      helperText={fieldState.error?.message ?? ' '}
      required={isRequired}
      multiline
      fullWidth
      slotProps={{ htmlInput: { spellCheck: false } }}
    />
  )
}

function parsed(text: string): unknown {
  try {
    return text.trim() === '' ? null : (JSON.parse(text) as unknown)
  } catch {
    return new Unfinished(text)
  }
}
