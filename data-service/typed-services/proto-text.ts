import { type EnumType, isEnum, type MessageField, type MessageType, type ServiceType, unspecified } from './schema.js'

/** Everything that one proto file declares. */
export interface ProtoFile {
  /** `store.v1` */
  readonly packageName: string
  readonly comment: string
  readonly services: readonly ServiceType[]
  readonly types: readonly (MessageType | EnumType)[]
}

const WELL_KNOWN = {
  'google.protobuf.FieldMask': 'google/protobuf/field_mask.proto',
  'google.protobuf.Timestamp': 'google/protobuf/timestamp.proto'
} as const

/** The file in the proto language, version 3. */
export function protoText({ packageName, comment, services, types }: ProtoFile): string {
  const body = [...services.map(serviceText), ...types.map((type) => protoTypeText(type, ''))].join('\n')
  const imports = Object.entries(WELL_KNOWN)
    .filter(([type]) => body.includes(type))
    .map(([, file]) => `import "${file}";\n`)
    .join('')
  const head = `syntax = "proto3";\n\n${commentText(comment, '')}package ${packageName};\n`
  return `${head}${imports === '' ? '' : `\n${imports}`}\n${body}`
}

function serviceText({ name, comment, rpcs }: ServiceType): string {
  const lines = rpcs.map(({ name: rpc, comment: said, request, response, streams }) => {
    const answer = `${streams ? 'stream ' : ''}${response.name}`
    return `${commentText(said, '  ')}  rpc ${rpc}(${request.name}) returns (${answer});\n`
  })
  return `${commentText(comment, '')}service ${name} {\n${lines.join('')}}\n`
}

function protoTypeText(type: MessageType | EnumType, indent: string): string {
  const inner = `${indent}  `
  const parts = isEnum(type) ? enumParts(type, inner) : messageParts(type, inner)
  const name = type.name.slice(type.name.lastIndexOf('.') + 1)
  const keyword = isEnum(type) ? 'enum' : 'message'
  const body = [...reservedParts(type, inner), ...parts].join('')
  return `${commentText(type.comment, indent)}${indent}${keyword} ${name} {${body === '' ? '' : `\n${body}${indent}`}}\n`
}

function messageParts({ fields, oneof, nested }: MessageType, indent: string): string[] {
  const chosen = fields.filter(({ label }) => label === 'oneof')
  const plain = fields.filter(({ label }) => label !== 'oneof')
  const ofOneof = chosen.map((field) => messageFieldText(field, `${indent}  `)).join('')
  return [
    ...nested.map((type) => protoTypeText(type, indent)),
    ...(chosen.length === 0 ? [] : [`${indent}// Exactly one.\n${indent}oneof ${oneof} {\n${ofOneof}${indent}}\n`]),
    ...plain.map((field) => messageFieldText(field, indent))
  ]
}

function messageFieldText({ name, number, type, label, comment }: MessageField, indent: string): string {
  const keyword = label === 'plain' || label === 'oneof' ? '' : `${label} `
  return `${commentText(comment, indent)}${indent}${keyword}${type} ${name} = ${number};\n`
}

function enumParts(type: EnumType, indent: string): string[] {
  return [
    `${indent}// Not set.\n${indent}${unspecified(type)} = 0;\n`,
    ...type.words.map(
      ({ word, name, number }) => `${commentText(JSON.stringify(word), indent)}${indent}${name} = ${number};\n`
    )
  ]
}

function reservedParts({ reserved }: MessageType | EnumType, indent: string): string[] {
  if (reserved.length === 0) return []
  const numbers = reserved.map(({ number }) => number).join(', ')
  const names = [...new Set(reserved.map(({ name }) => JSON.stringify(name)))].join(', ')
  return [`${indent}reserved ${numbers};\n${indent}reserved ${names};\n`]
}

const WIDTH = 116

/** The comment in lines of bounded width. What an entity file says comes from its author, line breaks included. */
function commentText(comment: string, indent: string): string {
  const lines: string[] = []
  for (const word of comment.split(/\s+/)) {
    const line = lines.at(-1)
    if (line === undefined || indent.length + line.length + word.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.map((line) => `${indent}// ${line}\n`).join('')
}
