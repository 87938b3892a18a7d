import { TextField } from '@mui/material'
import { type ReactElement, useState } from 'react'
import { useInput } from 'react-admin'

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
    value instanceof Unfinished ? 'This is no JSON' : isRequired && value === undefined ? 'Required' : undefined
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
