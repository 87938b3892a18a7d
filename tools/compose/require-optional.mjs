import { readFileSync, writeFileSync } from 'node:fs'

/** @typedef {{ dependencies: Record<string, string>, devDependencies: Record<string, string>, peerDependencies: Record<string, string> }} Manifest */

// Makes dependencies of the optional packages in package.json that are not those of tests, for the images.
const manifest = /** @type {Manifest} */ (JSON.parse(readFileSync('package.json', 'utf8')))
for (const [name, range] of Object.entries(manifest.peerDependencies)) {
  if (name === 'chai' || name === 'mocha') continue
  manifest.dependencies[name] = range
  delete manifest.devDependencies[name]
}
writeFileSync('package.json', JSON.stringify(manifest))
