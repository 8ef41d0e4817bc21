import ts from 'typescript'
import { parseSource, type SourceFile, walk } from '../support/source-tree.ts'

/** A place in a file where one text would be another. */
export interface Fault {
  path: string
  line: number
  kind: Kind
  from: number
  to: number
  before: string
  after: string
}

/** What people get wrong: each of these reads well and type checks, nearly always. */
export const KINDS = [
  'condition turned round',
  'and for or',
  'comparison turned round',
  'bound off by one',
  'number ten times off',
  'statement left out',
  'filter left out',
  'some for every',
  'fallback left out',
] as const
export type Kind = (typeof KINDS)[number]

const S = ts.SyntaxKind
const OPPOSITE: Readonly<Partial<Record<ts.SyntaxKind, [string, Kind]>>> = {
  [S.AmpersandAmpersandToken]: ['||', 'and for or'],
  [S.BarBarToken]: ['&&', 'and for or'],
  [S.EqualsEqualsEqualsToken]: ['!==', 'comparison turned round'],
  [S.ExclamationEqualsEqualsToken]: ['===', 'comparison turned round'],
  [S.LessThanToken]: ['<=', 'bound off by one'],
  [S.LessThanEqualsToken]: ['<', 'bound off by one'],
  [S.GreaterThanToken]: ['>=', 'bound off by one'],
  [S.GreaterThanEqualsToken]: ['>', 'bound off by one'],
}
const SWAPPED: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
}

/** Every fault that can be planted in a file, one for each place and kind. */
export function findFaults(file: SourceFile): Fault[] {
  const source = parseSource(file)
  return walk(source).flatMap((node) =>
    [changeOf(node)].flatMap((change) => {
      if (change === null) return []
      const [kind, at, after] = change
      const [from, to] = [at.getStart(source), at.getEnd()]
      const line = source.getLineAndCharacterOfPosition(from).line + 1
      return [{ path: file.path, line, kind, from, to, before: file.text.slice(from, to), after }]
    }),
  )
}

function changeOf(node: ts.Node): [Kind, ts.Node, string] | null {
  if (ts.isBinaryExpression(node)) return changeOfOperator(node)
  if (ts.isCallExpression(node)) return changeOfCall(node)
  if (ts.isPrefixUnaryExpression(node) && node.operator === S.ExclamationToken)
    return ['condition turned round', node, node.operand.getText()]
  if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition
    return ts.isPrefixUnaryExpression(condition)
      ? null
      : ['condition turned round', condition, `!(${condition.getText()})`]
  }
  if (ts.isNumericLiteral(node) && isValue(node))
    return ['number ten times off', node, `(${node.text} * 10 + 1)`]
  return ts.isExpressionStatement(node) && isCall(node.expression)
    ? ['statement left out', node, ';']
    : null
}

function changeOfOperator(node: ts.BinaryExpression): [Kind, ts.Node, string] | null {
  const opposite = OPPOSITE[node.operatorToken.kind]
  if (opposite !== undefined) return [opposite[1], node.operatorToken, opposite[0]]
  return node.operatorToken.kind === S.QuestionQuestionToken
    ? ['fallback left out', node, node.left.getText()]
    : null
}

function changeOfCall({ expression }: ts.CallExpression): [Kind, ts.Node, string] | null {
  if (!ts.isPropertyAccessExpression(expression)) return null
  const { name } = expression
  if (name.text === 'filter')
    return ['filter left out', expression.parent, expression.expression.getText()]
  // `toString` of a plain object is none of its members.
  return Object.hasOwn(SWAPPED, name.text)
    ? ['some for every', name, SWAPPED[name.text] ?? '']
    : null
}

/** Not a type, and not a member’s name. */
function isValue(node: ts.NumericLiteral): boolean {
  const { parent } = node
  return !ts.isLiteralTypeNode(parent) && !(ts.isPropertyAssignment(parent) && parent.name === node)
}

function isCall(node: ts.Expression): boolean {
  return ts.isCallExpression(node) || (ts.isAwaitExpression(node) && isCall(node.expression))
}
