import { failAtFirst } from './fail-at-first.js'

failAtFirst('flaky')
