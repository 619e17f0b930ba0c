/** @jsxImportSource preact */
import type { Listing, Payment } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { ActionButton } from "../action-button.tsx";
import { toast } from "../toast.tsx";
import { formatMoney } from "./price.ts";

interface Props {
  readonly listing: Listing;
  readonly done: () => void;
}

/** Submits a listing: it is in the catalog as soon as its month is paid. */
export function Checkout({ listing, done }: Props) {
  const [payment, setPayment] = useState<Payment | null>(null);
  const confirm = async (id: string): Promise<void> => {
    await api.payments.confirm(id);
    toast("Listed");
    done();
  };
  return (
    <section class="card summary busy checkout">
      <h2>{listing.state === "DRAFT" ? "A draft: brands do not see it" : "Not in the catalog any more"}</h2>
      <p class="soft">It is listed as soon as a month is paid: {formatMoney(listing.price)}.</p>
      {payment === null ? (
        may("listings:write") ? (
          <div class="buttons">
            <ActionButton label="Submit and pay" primary act={async () => setPayment(await api.listings.checkout(listing.slug))} />
          </div>
        ) : null
      ) : payment.provider === "stripe" ? (
        <a class="button" href={payment.checkoutUrl} target="_blank" rel="noopener noreferrer">
          Open the checkout
        </a>
      ) : may("billing:write") ? (
        <div class="buttons">
          <ActionButton label="Confirm the payment" primary act={() => confirm(payment.id)} />
        </div>
      ) : (
        <p>Somebody with access to billing confirms the payment.</p>
      )}
    </section>
  );
}
