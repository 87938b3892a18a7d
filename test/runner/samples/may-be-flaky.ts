import { failAtFirst } from './fail-at-first.js'

failAtFirst('may-be-flaky')
