import type { JSX } from 'preact'

const HUES = [12, 35, 78, 150, 188, 214, 262, 328]

/** A picture for a product that has none: its initial in a landscape of its own, the same one every time. */
export function ProductArt({ id, name }: { readonly id: number; readonly name: string }): JSX.Element {
  const hue = HUES[id % HUES.length] ?? 0
  const [hill, slope] = [90 + ((id * 37) % 50), 70 + ((id * 53) % 60)]
  const initial = Array.from(name.replace(/[^\p{L}\p{N}]/gu, ''))[0] ?? '·'
  return (
    <svg class="art" viewBox="0 0 200 160" role="presentation" aria-hidden="true" focusable="false">
      <rect width="200" height="160" fill={`hsl(${hue} 48% 88%)`} />
      <circle cx={40 + ((id * 71) % 120)} cy="46" r="20" fill={`hsl(${(hue + 40) % 360} 70% 78%)`} />
      <path d={`M0 ${hill} Q 60 ${slope} 120 ${hill} T 200 ${slope + 20} V160 H0Z`} fill={`hsl(${hue} 40% 62%)`} />
      <path d={`M0 ${hill + 30} Q 90 ${slope + 10} 200 ${hill + 14} V160 H0Z`} fill={`hsl(${hue} 45% 42%)`} />
      <text x="100" y="112" text-anchor="middle" font-size="64" font-weight="700" fill="#fff" fill-opacity="0.92">
        {initial.toUpperCase()}
      </text>
    </svg>
  )
}
