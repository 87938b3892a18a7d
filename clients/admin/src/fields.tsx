import type { ReactElement } from 'react'
import { BooleanField, FunctionField, ReferenceField, TextField } from 'react-admin'
import type { Catalogue, Property, Resource, Row } from './catalogue.js'
import { inWords, valueText } from './words.js'

/** The field that shows a property of a row. Lists sort by its `source`. */
export function fieldOf(property: Property, resource: Resource, catalogue: Catalogue): ReactElement {
  const { name, type, sortable } = property
  const common = { source: name, label: inWords(name), sortable }
  const target = catalogue.referenceOf(resource, property)
  if (target !== undefined) {
    return <ReferenceField key={name} {...common} reference={target.name} link="show" emptyText="—" />
  }
  switch (type) {
    case 'bool':
      return <BooleanField key={name} {...common} valueLabelTrue="Yes" valueLabelFalse="No" />
    case 'int':
    case 'long':
    case 'decimal':
    case 'double':
      return <TextField key={name} {...common} emptyText="—" textAlign="right" sx={FIGURES} />
    case 'string':
    case 'enum':
    case 'date':
    case 'time':
    case 'guid':
    case 'base64url':
      return <TextField key={name} {...common} emptyText="—" sx={{ overflowWrap: 'anywhere' }} />
    default:
      return <FunctionField key={name} {...common} render={(row: Row) => valueText(row[name], type)} />
  }
}

const FIGURES = { fontVariantNumeric: 'tabular-nums' }

/** What a list shows of each row: the first properties, without what is long. */
export function listedProperties(resource: Resource, most: number): readonly Property[] {
  const short = resource.properties.filter(
    ({ type, maxLength }) => !['bytes', 'binary', 'json'].includes(type) && maxLength <= LONGEST_LISTED
  )
  const label = short.filter(({ name }) => name === resource.label)
  const others = short.filter(({ name }) => name !== resource.label && name !== 'id')
  return [...short.filter(({ name }) => name === 'id'), ...label, ...others].slice(0, most)
}

const LONGEST_LISTED = 500
