import type { JSX } from 'preact'
import { MATERIALS, SHAPES, type ProductShape } from './product-shapes.js'

const HUES = [32, 200, 96, 165, 18, 220, 48, 280]

/** A picture of what its name says, the same one every time; of an initial where the name says nothing drawn here. */
export function ProductArt({ id, name }: { readonly id: number; readonly name: string }): JSX.Element {
  const hue = HUES[id % HUES.length] ?? 0
  const words = name.split(' ')
  const shape = Object.hasOwn(SHAPES, words.at(-1) ?? '') ? SHAPES[words.at(-1) ?? ''] : undefined
  const material = words.find((word) => Object.hasOwn(MATERIALS, word))
  const colour = (material === undefined ? undefined : MATERIALS[material]) ?? `hsl(${hue} 34% 44%)`
  return (
    <svg class="art" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 160" aria-hidden="true" focusable="false">
      <rect width="200" height="160" fill={`hsl(${hue} 42% 89%)`} />
      <circle cx={50 + ((id * 71) % 100)} cy="60" r="44" fill={`hsl(${hue} 52% 94%)`} />
      <rect y="122" width="200" height="38" fill={`hsl(${hue} 30% 80%)`} />
      <ellipse cx="100" cy="131" rx="66" ry="6" fill="#000" fill-opacity="0.12" />
      {shape === undefined ? <Initial name={name} colour={colour} /> : <Thing shape={shape} colour={colour} />}
    </svg>
  )
}

function Thing({ shape, colour }: { readonly shape: ProductShape; readonly colour: string }): JSX.Element {
  const { light, body, shade, rod, line } = shape
  return (
    <>
      {light === undefined ? null : <path d={light} fill="#fff" fill-opacity="0.75" />}
      {rod === undefined ? null : <path d={rod} fill="none" stroke={colour} stroke-width="8" stroke-linecap="round" />}
      <path d={body} fill={colour} />
      {shade === undefined ? null : <path d={shade} fill="#1a120b" fill-opacity="0.28" />}
      {line === undefined ? null : (
        <path d={line} fill="none" stroke="#1a120b" stroke-opacity="0.45" stroke-width="3" stroke-linecap="round" />
      )}
    </>
  )
}

function Initial({ name, colour }: { readonly name: string; readonly colour: string }): JSX.Element {
  const initial = /[\p{L}\p{N}]/u.exec(name)?.[0] ?? Array.from(name.trim())[0] ?? '·'
  return (
    <>
      <path d="M62 44H138Q146 44 146 52V130H54V52Q54 44 62 44Z" fill={colour} />
      <path d="M54 52Q54 44 62 44H138Q146 44 146 52V60H54Z" fill="#1a120b" fill-opacity="0.22" />
      <text
        x="100"
        y="113"
        text-anchor="middle"
        font-family="Georgia, serif"
        font-size="48"
        font-weight="700"
        fill="#fff"
      >
        {initial.toUpperCase()}
      </text>
    </>
  )
}
