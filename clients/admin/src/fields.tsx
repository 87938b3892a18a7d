import type { ReactElement } from 'react'
import { BooleanField, FunctionField, ReferenceField } from 'react-admin'
import type { Catalogue, Property, Row, WithReferences } from './catalogue.js'
import { valueText } from './words.js'

/** The field that shows a property of a row, or of a child. Lists sort by its `source`. */
export function fieldOf(property: Property, owner: WithReferences, catalogue: Catalogue): ReactElement {
  const { name, type, sortable } = property
  const common = { source: name, label: catalogue.labelOf(owner, property), sortable }
  const target = catalogue.referenceOf(owner, property)
  if (target !== undefined) {
    const link = catalogue.allows(target.name, 'get') ? 'show' : false
    return <ReferenceField key={name} {...common} reference={target.name} link={link} emptyText="—" />
  }
  if (type === 'bool')
    return <BooleanField key={name} {...common} emptyText="—" valueLabelTrue="Yes" valueLabelFalse="No" />
  const render = (row: Row): string => valueText(row[name], type)
  if (['int', 'long', 'decimal', 'double'].includes(type)) {
    return <FunctionField key={name} {...common} render={render} textAlign="right" sx={FIGURES} />
  }
  return <FunctionField key={name} {...common} render={render} sx={WORDS} />
}

const FIGURES = { fontVariantNumeric: 'tabular-nums' }
/** A word is broken only where it is longer than its line. */
const WORDS = { overflowWrap: 'break-word' }
