/**
 * Something that whoever runs Waypost can put right. Its message says what was wrong, where, and
 * what would be right: a command prints that alone, without a stack.
 */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
