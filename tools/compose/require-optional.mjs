import { readFileSync, writeFileSync } from 'node:fs'

/** @typedef {{ dependencies: Record<string, string>, devDependencies: Record<string, string>, peerDependencies: Record<string, string> }} Manifest */

// Makes dependencies of the optional packages in package.json, for the images: without those of tests, and without that of the
// pages, which the build makes.
const manifest = /** @type {Manifest} */ (JSON.parse(readFileSync('package.json', 'utf8')))
for (const [name, range] of Object.entries(manifest.peerDependencies)) {
  if (['chai', 'mocha', '@uniform-rest/pages'].includes(name)) continue
  manifest.dependencies[name] = range
  delete manifest.devDependencies[name]
}
writeFileSync('package.json', JSON.stringify(manifest))
