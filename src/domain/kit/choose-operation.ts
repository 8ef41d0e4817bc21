import type { Operation } from '../listing/operation.ts'
import type { Rail } from '../wire/vocabulary.ts'

/** The members of an operation that show whether and where it is sold. */
export type OperationOffers = Partial<Pick<Operation, 'price' | 'offers'>>

/** Whether an operation is sold on a rail: by its offers or, where none has any, the listing's. */
export function sellsOn(
  rail: Rail,
  operations: readonly OperationOffers[],
  listed: readonly Rail[],
): (operation: OperationOffers) => boolean {
  const isSaid = operations.some(({ offers = [] }) => offers.length > 0)
  return isSaid
    ? ({ offers = [] }) => offers.some((offer) => offer.rail === rail)
    : () => listed.includes(rail)
}

/** Those sold on the rail first, otherwise in the given order. */
export function orderByRail<Each extends OperationOffers>(
  operations: readonly Each[],
  rail: Rail | undefined,
): Each[] {
  const isOn = ({ offers = [] }: Each) => offers.some((offer) => offer.rail === rail)
  return [...operations.filter(isOn), ...operations.filter((each) => !isOn(each))]
}

/** The first that is sold on the rail, else the first that has a price, else the first. */
export function chooseOperation<Each extends OperationOffers>(
  operations: readonly Each[],
  rail?: Rail,
): Each | undefined {
  const [first] = orderByRail(operations, rail)
  if (first?.offers?.some((offer) => offer.rail === rail) === true) return first
  return (
    operations.find(({ price, offers }) => price !== undefined || offers !== undefined) ??
    operations[0]
  )
}
