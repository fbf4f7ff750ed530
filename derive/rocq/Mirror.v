(* The general library: what every generated file uses.  No axioms beyond those of the reals and excluded middle. *)
From Coq Require Import Reals Lra Lia Psatz Classical Ranalysis5.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.
(* Coquelicot's algebra, read as that of R *)
Ltac as_R := unfold plus, minus, opp, scal, mult, zero, one in *; simpl in *; unfold plus, minus, opp, mult in *; simpl in *;
  match goal with |- @eq _ ?a ?b => change (@eq R a b) end.
(* ------------------------------------------------------------------ *)
(* Finite sums: vectors are functions nat -> R, read below their length *)

Fixpoint Sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => Sum m f + f m end.
Definition kron (i j : nat) : R := if Nat.eqb i j then 1 else 0.

Lemma Sum_ext n f h : (forall i, (i < n)%nat -> f i = h i) -> Sum n f = Sum n h.
Proof. induction n as [|n IH]; intros H; simpl; [reflexivity|]. rewrite IH, H; auto. Qed.
Lemma Sum_0 n f : (forall i, (i < n)%nat -> f i = 0) -> Sum n f = 0.
Proof. induction n as [|n IH]; intros H; simpl; [reflexivity|]. rewrite IH, H by auto. ring. Qed.
Lemma Sum_plus n f h : Sum n (fun i => f i + h i) = Sum n f + Sum n h.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma Sum_minus n f h : Sum n (fun i => f i - h i) = Sum n f - Sum n h.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma Sum_scal n c f : Sum n (fun i => c * f i) = c * Sum n f.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma Sum_swap n m f : Sum n (fun i => Sum m (fun j => f i j)) = Sum m (fun j => Sum n (fun i => f i j)).
Proof. induction n as [|n IH]; simpl; [rewrite Sum_0; reflexivity|]. rewrite IH, Sum_plus. reflexivity. Qed.
Lemma Sum_le n f h : (forall i, (i < n)%nat -> f i <= h i) -> Sum n f <= Sum n h.
Proof. induction n as [|n IH]; intros H; simpl; [lra|]. apply Rplus_le_compat; auto. Qed.
Lemma Sum_ge0 n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= Sum n f.
Proof. intros H. rewrite <- (Sum_0 n (fun _ => 0)) by reflexivity. apply Sum_le, H. Qed.
Lemma Sum_term n f k : (forall i, (i < n)%nat -> 0 <= f i) -> (k < n)%nat -> f k <= Sum n f.
Proof.
  induction n as [|n IH]; intros H hk; [lia|]. simpl. assert (0 <= Sum n f) by (apply Sum_ge0; auto).
  assert (0 <= f n) by auto. destruct (Nat.eq_dec k n) as [->|]; [lra|]. assert (f k <= Sum n f) by (apply IH; [auto|lia]). lra.
Qed.
Lemma Sum_eq0 n f : (forall i, (i < n)%nat -> 0 <= f i) -> Sum n f = 0 -> forall i, (i < n)%nat -> f i = 0.
Proof. intros H E i hi. generalize (H i hi) (Sum_term n f i H hi). lra. Qed.
Lemma square_0 c x : 0 < c -> c * x ^ 2 = 0 -> x = 0.
Proof. intros h E. apply Rmult_integral in E. destruct E as [E|E]; [lra|nra]. Qed.
Lemma Sum_kron n f k : (k < n)%nat -> Sum n (fun i => kron k i * f i) = f k.
Proof.
  induction n as [|n IH]; intros hk; [lia|]. simpl. unfold kron at 2. destruct (Nat.eqb_spec k n) as [->|hn].
  - rewrite Sum_0; [ring|]. intros i hi. unfold kron. destruct (Nat.eqb_spec n i); [lia|ring].
  - rewrite IH by lia. ring.
Qed.
Lemma Sum_derive n (f : nat -> R -> R) l x :
  (forall i, (i < n)%nat -> is_derive (f i) x (l i)) -> is_derive (fun t => Sum n (fun i => f i t)) x (Sum n l).
Proof. induction n as [|n IH]; intros H; simpl; [apply @is_derive_const|apply @is_derive_plus; auto]. Qed.
Lemma Sum_continuous n (f : nat -> R -> R) t :
  (forall i, (i < n)%nat -> continuous (f i) t) -> continuous (fun s => Sum n (fun i => f i s)) t.
Proof. induction n as [|n IH]; intros H; simpl; [apply continuous_const|apply (continuous_plus (fun s => Sum n (fun i => f i s))); auto]. Qed.
(* ------------------------------------------------------------------ *)
(* Derivatives by structure: the derivative of what is written, written alike *)

Lemma d_const (c x : R) : is_derive (fun _ => c) x 0.
Proof. apply @is_derive_const. Qed.
Lemma d_id (x : R) : is_derive (fun s => s) x 1.
Proof. apply @is_derive_id. Qed.
Lemma d_plus (f g : R -> R) x a b : is_derive f x a -> is_derive g x b -> is_derive (fun s => f s + g s) x (a + b).
Proof. intros. apply @is_derive_plus; assumption. Qed.
Lemma d_minus (f g : R -> R) x a b : is_derive f x a -> is_derive g x b -> is_derive (fun s => f s - g s) x (a - b).
Proof. intros. apply @is_derive_minus; assumption. Qed.
Lemma d_opp (f : R -> R) x a : is_derive f x a -> is_derive (fun s => - f s) x (- a).
Proof. intros. apply @is_derive_opp; assumption. Qed.
Lemma d_mult (f g : R -> R) x a b : is_derive f x a -> is_derive g x b -> is_derive (fun s => f s * g s) x (a * g x + f x * b).
Proof. intros. apply (is_derive_mult f g x a b); [assumption|assumption|intros; apply Rmult_comm]. Qed.
Lemma d_scal (c : R) (g : R -> R) x b : is_derive g x b -> is_derive (fun s => c * g s) x (c * b).
Proof. apply is_derive_scal. Qed.
Lemma d_over (c : R) (f : R -> R) x a : is_derive f x a -> is_derive (fun s => f s / c) x (a / c).
Proof. apply (is_derive_scal_l f x a (/ c)). Qed.
Lemma d_comp (u f : R -> R) x a b : is_derive u (f x) b -> is_derive f x a -> is_derive (fun s => u (f s)) x (b * a).
Proof. intros. evar_last; [apply (is_derive_comp u f); eassumption|]. as_R; ring. Qed.
Lemma d_div (f g : R -> R) x a b : g x <> 0 -> is_derive f x a -> is_derive g x b -> is_derive (fun s => f s / g s) x ((a * g x - f x * b) / (g x * g x)).
Proof. intros N A B. evar_last; [apply (is_derive_div f g); eassumption|]. as_R; field; exact N. Qed.
Lemma d_pow n c x : c = Z.of_nat (S n) -> is_derive (fun x => x ^ S n) x (IZR c * x ^ n).
Proof. intros ->. rewrite <- INR_IZR_INZ. apply is_derive_Reals, (derivable_pt_lim_pow x (S n)). Qed.
Lemma d_inv x : x <> 0 -> is_derive Rinv x (- 1 / (x * x)).
Proof. intros N. evar_last; [apply (is_derive_inv (fun x => x)); [apply d_id|exact N]|]. as_R; field; exact N. Qed.
Lemma d_sqrt x : 0 < x -> is_derive sqrt x (/ (2 * sqrt x)).
Proof. intros P. apply is_derive_Reals, derivable_pt_lim_sqrt, P. Qed.
Lemma d_Rpower c x : 0 < x -> is_derive (fun x => Rpower x c) x (c * Rpower x c / x).
Proof.
  intros P. evar_last; [apply (d_comp exp (fun x => c * ln x)); [apply is_derive_exp|apply d_scal, is_derive_ln, P]|].
  unfold Rpower, Rdiv. ring.
Qed.
Lemma d_arcsinh x : is_derive arcsinh x (/ sqrt (x ^ 2 + 1)).
Proof. apply is_derive_Reals, derivable_pt_lim_arcsinh. Qed.
Lemma d_atan x : is_derive atan x (/ (1 + x ^ 2)).
Proof. replace (x ^ 2) with (Rsqr x) by (unfold Rsqr; ring). apply is_derive_atan. Qed.
Lemma d_sinh x : is_derive sinh x (cosh x).
Proof. apply is_derive_Reals, derivable_pt_lim_sinh. Qed.
Lemma d_cosh x : is_derive cosh x (sinh x).
Proof. apply is_derive_Reals, derivable_pt_lim_cosh. Qed.
Lemma cosh_pos x : 0 < cosh x.
Proof. unfold cosh. generalize (exp_pos x) (exp_pos (- x)). lra. Qed.
Lemma cosh_sqr x : cosh x ^ 2 = 1 + sinh x ^ 2.
Proof. unfold cosh, sinh. rewrite exp_Ropp. field. apply Rgt_not_eq, exp_pos. Qed.
Lemma d_tanh x : is_derive tanh x (1 - tanh x ^ 2).
Proof.
  assert (N : cosh x <> 0) by apply Rgt_not_eq, cosh_pos. unfold tanh.
  evar_last; [apply (d_div sinh cosh); [exact N|apply d_sinh|apply d_cosh]|]. field [(cosh_sqr x)]. exact N.
Qed.
Ltac fact := first [assumption | apply Rgt_not_eq; assumption].
Ltac given := match goal with H : is_derive _ _ _ |- _ => exact H end.
(* the derivative of a function of its argument *)
Ltac unary := cbv beta; lazymatch goal with
  | |- is_derive (fun x => x ^ S ?n) _ _ => let c := eval cbv in (Z.of_nat (S n)) in exact (d_pow n c _ eq_refl)
  | |- is_derive (fun x => Rpower x ?c) _ _ => apply d_Rpower; fact
  | |- is_derive Rinv _ _ => apply d_inv; fact
  | |- is_derive sqrt _ _ => apply d_sqrt; fact
  | |- is_derive exp _ _ => apply is_derive_exp
  | |- is_derive ln _ _ => apply is_derive_ln; fact
  | |- is_derive arcsinh _ _ => apply d_arcsinh
  | |- is_derive atan _ _ => apply d_atan
  | |- is_derive sin _ _ => apply is_derive_sin
  | |- is_derive cos _ _ => apply is_derive_cos
  | |- is_derive sinh _ _ => apply d_sinh
  | |- is_derive cosh _ _ => apply d_cosh
  | |- is_derive tanh _ _ => apply d_tanh
  | _ => given
  end.
Ltac diff := cbv beta; lazymatch goal with
  | |- is_derive (fun _ => ?c) _ _ => apply d_const
  | |- is_derive (fun s => s) _ _ => apply d_id
  | |- is_derive (fun s => @?f s + @?g s) _ _ => apply (d_plus f g); diff
  | |- is_derive (fun s => @?f s - @?g s) _ _ => apply (d_minus f g); diff
  | |- is_derive (fun s => - @?f s) _ _ => apply (d_opp f); diff
  | |- is_derive (fun s => @?f s * @?g s) _ _ => lazymatch f with (fun _ => ?c) => apply (d_scal c g); diff | _ => apply (d_mult f g); diff end
  | |- is_derive (fun s => @?f s / @?g s) _ _ => lazymatch g with (fun _ => ?c) => apply (d_over c f); diff | _ => apply (d_div f g); [fact|diff|diff] end
  | |- is_derive (fun s => @?f s ^ ?n) _ _ => apply (d_comp (fun x => x ^ n) f); [unary|diff]
  | |- is_derive (fun s => Rpower (@?f s) ?c) _ _ => apply (d_comp (fun x => Rpower x c) f); [unary|diff]
  | |- is_derive (fun s => ?u (@?f s)) _ _ => first [apply (d_comp u f); [unary|diff] | given]
  | _ => given
  end.
(* ------------------------------------------------------------------ *)
(* What follows from derivatives *)

Lemma same_derivative (f : R -> R) x a b : is_derive f x a -> is_derive f x b -> a = b.
Proof. intros A B. apply is_derive_unique in A. apply is_derive_unique in B. congruence. Qed.
Lemma steady_at (f : R -> R) x l : is_derive f x l -> continuous f x.
Proof. intros D. apply @ex_derive_continuous. exists l. exact D. Qed.
Lemma around a b x : a < x < b -> locally x (fun y => a < y < b).
Proof. intros [h h']. apply filter_and; [apply (open_gt a), h|apply (open_lt b), h']. Qed.
Section Interval.
Variables (I : R -> Prop) (f f' : R -> R).
Hypothesis convex : forall x y z, I x -> I y -> x <= z <= y -> I z.
Hypothesis D : forall x, I x -> is_derive f x (f' x).

(* the value c is strictly between x and y *)
Lemma mean x y : I x -> I y -> x <> y -> exists c, I c /\ 0 < (c - x) * (y - x) /\ f y - f x = f' c * (y - x).
Proof.
  assert (W : forall x y, I x -> I y -> x < y -> exists c, x < c < y /\ f y - f x = f' c * (y - x)).
  { intros a b ha hb l. destruct (MVT_cor2 f f' a b l) as [c [E hc]]; [|exists c; auto].
    intros c hc. apply is_derive_Reals, D, (convex a b); assumption. }
  intros hx hy n. destruct (Rtotal_order x y) as [l|[e|l]]; [|contradiction|].
  - destruct (W x y hx hy l) as [c [hc E]]. exists c. split; [apply (convex x y); auto; lra|]. split; [nra|exact E].
  - destruct (W y x hy hx l) as [c [hc E]]. exists c. split; [apply (convex y x); auto; lra|]. split; [nra|lra].
Qed.
Lemma grows x y : (forall z, I z -> 0 <= f' z) -> I x -> I y -> x <= y -> f x <= f y.
Proof.
  intros P hx hy h. destruct (Req_dec x y) as [->|n]; [lra|]. destruct (mean x y hx hy n) as [c [hc [_ E]]].
  generalize (P c hc). nra.
Qed.
Lemma increasing x y : (forall z, I z -> 0 < f' z) -> I x -> I y -> x < y -> f x < f y.
Proof. intros P hx hy h. destruct (mean x y hx hy) as [c [hc [_ E]]]; [lra|]. generalize (P c hc). nra. Qed.
End Interval.

Lemma law (f : R -> R) : (forall t, 0 <= t -> is_derive f t 0) -> forall t, 0 <= t -> f t = f 0.
Proof.
  intros H t ht. destruct (Req_dec t 0) as [->|n]; [reflexivity|].
  destruct (mean (fun t => 0 <= t) f (fun _ => 0)) with (x := 0) (y := t) as [c [_ [_ E]]]; intros; auto; lra.
Qed.
(* by how much q is above its tangent, where q'' = k: Taylor's remainder *)
Lemma remainder (I : R -> Prop) (q dq k : R -> R) x y : (forall x y z, I x -> I y -> x <= z <= y -> I z) ->
  (forall x, I x -> is_derive q x (dq x)) -> (forall x, I x -> is_derive dq x (k x)) -> I x -> I y -> x <> y ->
  exists c r, I c /\ 0 < r /\ q y = q x + dq x * (y - x) + k c * r.
Proof.
  intros C q' dq' hx hy n. destruct (mean I q dq C q' x y hx hy n) as [e [he [p E]]].
  destruct (mean I dq k C dq' x e hx he) as [c [hc [_ E']]]; [intros <-; nra|].
  exists c, ((e - x) * (y - x)). split; [exact hc|]. split; [exact p|]. nra.
Qed.
(* what moves by multiples of itself and starts at 0 stays there *)
Lemma rests n T (z : nat -> R -> R) (a : nat -> nat -> R -> R) :
  (forall k t, (k < n)%nat -> 0 <= t <= T -> is_derive (z k) t (Sum n (fun j => a k j t * z j t))) ->
  (forall k j t, (k < n)%nat -> (j < n)%nat -> 0 <= t <= T -> continuous (a k j) t) ->
  (forall k, (k < n)%nat -> z k 0 = 0) -> 0 <= T -> forall k, (k < n)%nat -> z k T = 0.
Proof.
  intros D C Z hT k hk. set (m := fun t => Sum n (fun k => Sum n (fun j => a k j t ^ 2 + 1))).
  destruct (continuity_ab_maj m 0 T hT) as [x [M _]].
  { intros t ht. apply continuity_pt_filterlim, (Sum_continuous n (fun k s => Sum n (fun j => a k j s ^ 2 + 1))). intros i hi.
    apply (Sum_continuous n (fun j s => a i j s ^ 2 + 1)). intros j hj.
    apply (continuous_comp (a i j) (fun y => y ^ 2 + 1)); [apply C; assumption|]. eapply steady_at. diff. }
  set (h := fun t => Sum n (fun k => z k t ^ 2)). set (h' := fun t => Sum n (fun k => 2 * z k t * Sum n (fun j => a k j t * z j t))).
  assert (H : forall t, 0 <= h t) by (intros t; apply Sum_ge0; intros; apply pow2_ge_0).
  assert (P : forall i t, (i < n)%nat -> z i t ^ 2 <= h t) by (intros i t; apply (Sum_term n (fun k => z k t ^ 2)); intros; apply pow2_ge_0).
  assert (Dh : forall t, 0 <= t <= T -> is_derive h t (h' t)).
  { intros t ht. apply (Sum_derive n (fun k s => z k s ^ 2)). intros i hi. assert (Di := D i t hi ht). evar_last; [diff|]. simpl. ring. }
  assert (B : forall t, 0 <= t <= T -> h' t <= m x * h t).
  { intros t ht. apply Rle_trans with (m t * h t); [|apply Rmult_le_compat_r; auto]. unfold h', m. rewrite Rmult_comm, <- Sum_scal.
    apply Sum_le. intros i hi. rewrite <- !Sum_scal. apply Sum_le. intros j hj.
    generalize (P i t hi) (P j t hj) (pow2_ge_0 (a i j t)) (pow2_ge_0 (a i j t * z i t - z j t)). nra. }
  assert (E : - (h 0 * exp (- (m x * 0))) <= - (h T * exp (- (m x * T)))).
  { apply (grows (fun t => 0 <= t <= T) (fun t => - (h t * exp (- (m x * t)))) (fun t => (m x * h t - h' t) * exp (- (m x * t)))); try lra.
    - intros; lra.
    - intros t ht. assert (Dt := Dh t ht). evar_last; [diff|]. cbv beta. ring.
    - intros t ht. apply Rmult_le_pos; [generalize (B t ht); lra|left; apply exp_pos]. }
  assert (Z0 : h 0 = 0) by (apply Sum_0; intros i hi; rewrite Z by exact hi; ring). rewrite Z0 in E.
  assert (h T <= 0) by (generalize (exp_pos (- (m x * T))); nra). generalize (P k T hk). nra.
Qed.
(* what never is 0 keeps its sign *)
Lemma off_zero (f : R -> R) : (forall t, 0 <= t -> ex_derive f t) -> (forall t, 0 <= t -> f t <> 0) -> 0 < f 0 ->
  forall t, 0 <= t -> 0 < f t.
Proof.
  intros D N P t ht. destruct (Rtotal_order (f t) 0) as [l|[E|]]; [exfalso|destruct (N t ht E)|assumption].
  destruct (IVT_interv (fun s => - f s) 0 t) as [c [hc E]]; [|destruct ht as [|<-]; lra|lra|lra|apply (N c); lra].
  intros s hs. apply continuity_pt_filterlim, (continuous_opp f), @ex_derive_continuous, D. lra.
Qed.
(* so does what moves by multiples of itself *)
Lemma moving n (f : R -> R) (c : nat -> R -> R) (lam : R -> nat -> R) :
  (forall t j, 0 <= t -> (j < n)%nat -> continuous (fun s => lam s j) t) -> (forall j t, 0 <= t -> (j < n)%nat -> ex_derive (c j) t) ->
  (forall t, 0 <= t -> is_derive f t (Sum n (fun j => c j t * lam t j) * f t)) -> 0 < f 0 -> forall t, 0 <= t -> 0 < f t.
Proof.
  intros L C D P. apply off_zero; [intros; eexists; apply D; assumption| |exact P]. intros T hT Z.
  enough (Z0 : f (T - T) = 0) by (rewrite Rminus_eq_0 in Z0; lra).
  apply (rests 1 T (fun _ s => f (T - s)) (fun _ _ s => - Sum n (fun j => c j (T - s) * lam (T - s) j))) with (k := 0%nat); auto.
  - intros _ t _ ht. assert (Dt := D (T - t) ltac:(lra)). evar_last; [apply (d_comp f (fun s => T - s)); [exact Dt|diff]|]. simpl. ring.
  - intros _ _ t _ _ ht. apply (continuous_opp (fun s => Sum n (fun j => c j (T - s) * lam (T - s) j))).
    apply (continuous_comp (fun s => T - s) (fun s => Sum n (fun j => c j s * lam s j))); [eapply steady_at; diff|].
    apply (Sum_continuous n (fun j s => c j s * lam s j)). intros j hj.
    apply (continuous_mult (c j) (fun s => lam s j)); [apply @ex_derive_continuous, C; [lra|exact hj]|apply L; [lra|exact hj]].
  - intros _ _. rewrite Rminus_0_r. exact Z.
Qed.
(* ------------------------------------------------------------------ *)
(* What is claimed.  These definitions have to be read; of curves image and inv too, of refutations no_potential. *)

Definition agree d (b c : nat -> R) := forall i, (i < d)%nat -> b i = c i.
Definition dot d (x y : nat -> R) := Sum d (fun i => x i * y i).
Definition tends (f : R -> R) (l : R) := is_lim f p_infty l.

(* p is the gradient of Q at b: the derivative along every line *)
Definition gradient d (Q : (nat -> R) -> R) (b p : nat -> R) :=
  forall v, is_derive (fun s => Q (fun i => b i + s * v i)) 0 (dot d p v).

(* Q is least at b among the c of dom with the predictions of b on the rows of X, and at b alone *)
Definition minimiser d n (X : nat -> nat -> R) (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (b : nat -> R) :=
  forall c, dom c -> (forall j, (j < n)%nat -> dot d (X j) c = dot d (X j) b) ->
  Q b <= Q c /\ (Q c = Q b -> agree d b c).

(* beta stays in dom; there Q has a gradient G, which is 0 at the start of beta and moves with g times the steering lam *)
Definition follows_mirror d (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (beta lam : R -> nat -> R) :=
  (forall t, 0 <= t -> dom (beta t)) /\ exists (G : (nat -> R) -> nat -> R) (g : R -> R),
    (forall b, dom b -> gradient d Q b (G b)) /\ (forall i, (i < d)%nat -> G (beta 0) i = 0) /\
    (forall t, 0 <= t -> 0 < g t) /\
    (forall t i, 0 < t -> (i < d)%nat -> is_derive (fun s => G (beta s) i) t (g t * lam t i)).
(* Q is the implicit regularizer of beta, which moves with the steering lam: at all times, at the limit, of margins *)
Record regularizes d (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (beta lam : R -> nat -> R) : Prop := {
  mirror_law : follows_mirror d dom Q beta lam;
  at_times : forall n X r, (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * r t j)) ->
    forall t, 0 <= t -> minimiser d n X dom Q (beta t);
  at_limit : forall n X r, (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * r t j)) ->
    forall b, dom b -> (forall i, (i < d)%nat -> tends (fun t => beta t i) (b i)) ->
    minimiser d n X dom Q b /\
    exists nu, forall p, gradient d Q b p -> forall i, (i < d)%nat -> p i = Sum n (fun j => X j i * nu j);
  at_margins : forall n X r, (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * r t j)) ->
    (forall t j, 0 <= t -> (j < n)%nat -> 0 <= r t j) ->
    forall t, 0 <= t -> forall c, dom c -> (forall j, (j < n)%nat -> dot d (X j) (beta t) <= dot d (X j) c) ->
    Q (beta t) <= Q c
}.

Definition upd (w : nat -> R) k x := fun k' => if Nat.eqb k' k then x else w k'.
Definition partial (F : (nat -> R) -> R) k (w : nat -> R) l := is_derive (fun x => F (upd w k x)) (w k) l.
(* the flow of F: R^p -> R^d with rates of the weights (1 where none are given), and continuous steering: w' = rate J^T lam *)
Definition flow p d (rate : nat -> (nat -> R) -> R) (F : (nat -> R) -> nat -> R) (w lam : R -> nat -> R) :=
  (forall t i, 0 <= t -> (i < d)%nat -> continuous (fun s => lam s i) t) /\
  forall t k, 0 <= t -> (k < p)%nat -> exists J, (forall i, (i < d)%nat -> partial (fun v => F v i) k (w t) (J i)) /\
    is_derive (fun s => w s k) t (rate k (w t) * dot d J (lam t)).
Definition tail (m : nat) (w : nat -> R) (i : nat) := w (m + i)%nat.
(* d copies of one output F: R^p -> R, copy i with weights w t i k *)
Definition flows p d rate (F : (nat -> R) -> R) (w : R -> nat -> nat -> R) (lam : R -> nat -> R) :=
  forall i, (i < d)%nat -> flow p 1 rate (fun v _ => F v) (fun t => w t i) (fun t _ => lam t i).
(* ------------------------------------------------------------------ *)
(* Inner products, lines and limits *)

Definition line (w v : nat -> R) (s : R) : nat -> R := fun k => w k + s * v k.
Lemma line_0 w v : line w v 0 = w.
Proof. apply FunctionalExtensionality.functional_extensionality. intros k. unfold line. ring. Qed.
Lemma line_1 b c : line b (fun i => c i - b i) 1 = c.
Proof. apply FunctionalExtensionality.functional_extensionality. intros k. unfold line. ring. Qed.
Lemma line_derive w v k s : is_derive (fun s => line w v s k) s (v k).
Proof. unfold line. evar_last; [diff|ring]. Qed.
Lemma dot_comm d x z : dot d x z = dot d z x.
Proof. apply Sum_ext; intros; ring. Qed.
Lemma dot_scal d c x z : dot d (fun i => c * x i) z = c * dot d x z.
Proof. unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros; ring. Qed.
Lemma dot_scal_r d c x z : dot d x (fun i => c * z i) = c * dot d x z.
Proof. rewrite !(dot_comm d x). apply dot_scal. Qed.
Lemma dot_minus d x y z : dot d (fun i => x i - y i) z = dot d x z - dot d y z.
Proof. unfold dot. rewrite <- Sum_minus. apply Sum_ext; intros; ring. Qed.
Lemma dot_minus_r d x y z : dot d x (fun i => y i - z i) = dot d x y - dot d x z.
Proof. rewrite !(dot_comm d x). apply dot_minus. Qed.
Lemma dot_kron d x k : (k < d)%nat -> dot d (kron k) x = x k.
Proof. apply Sum_kron. Qed.
Lemma dot_line d x b v s : dot d x (line b v s) = dot d x b + s * dot d x v.
Proof. unfold dot, line. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros; ring. Qed.
Lemma dot_Sum d n (a : nat -> R) (X : nat -> nat -> R) x v :
  (forall i, (i < d)%nat -> x i = Sum n (fun j => X j i * a j)) -> dot d x v = Sum n (fun j => a j * dot d (X j) v).
Proof.
  intros E. unfold dot. rewrite (Sum_ext d _ (fun i => Sum n (fun j => a j * (X j i * v i)))), Sum_swap.
  - apply Sum_ext. intros. apply Sum_scal.
  - intros i hi. rewrite E, Rmult_comm, <- Sum_scal by exact hi. apply Sum_ext; intros; ring.
Qed.
Lemma dot_ge0 d x : 0 <= dot d x x.
Proof. apply Sum_ge0; intros; nra. Qed.
Lemma dot_eq0 d x : dot d x x = 0 -> forall i, (i < d)%nat -> x i = 0.
Proof. intros E i hi. apply Rsqr_0_uniq, (Sum_eq0 d (fun i => x i * x i)); [intros; apply Rle_0_sqr|exact E|exact hi]. Qed.
Lemma dot_derive d (c : R -> nat -> R) v z s :
  (forall i, (i < d)%nat -> is_derive (fun r => c r i) s (v i)) -> is_derive (fun r => dot d z (c r)) s (dot d z v).
Proof. intros D. apply (Sum_derive d (fun i r => z i * c r i)). intros i hi. apply d_scal, D, hi. Qed.
Lemma square_derive d (c : R -> nat -> R) v s :
  (forall i, (i < d)%nat -> is_derive (fun r => c r i) s (v i)) -> is_derive (fun r => dot d (c r) (c r)) s (2 * dot d (c s) v).
Proof.
  intros D. rewrite <- dot_scal. apply (Sum_derive d (fun i r => c r i * c r i)). intros i hi. assert (Di := D i hi).
  evar_last; [diff|cbv beta; ring].
Qed.
Lemma dot_0 d x z : dot d x x = 0 -> dot d x z = 0.
Proof. intros E. apply Sum_0. intros i hi. rewrite (dot_eq0 d x E i hi). ring. Qed.
(* <x, z> <= a b for lengths a, b *)
Lemma cauchy d x z a b : 0 <= a -> 0 <= b -> dot d x x = a ^ 2 -> dot d z z = b ^ 2 -> dot d x z <= a * b.
Proof.
  intros ha hb Ea Eb. destruct (Req_dec a 0) as [->|na]; [rewrite dot_0; [lra|rewrite Ea; ring]|].
  destruct (Req_dec b 0) as [->|nb]; [rewrite dot_comm, dot_0; [lra|rewrite Eb; ring]|].
  assert (P := dot_ge0 d (fun i => b * x i - a * z i)). rewrite dot_minus, !dot_minus_r, !dot_scal, !dot_scal_r, (dot_comm d z x), Ea, Eb in P.
  assert (0 < a * b) by (apply Rmult_lt_0_compat; lra). apply (Rmult_le_reg_l (a * b)); [assumption|]. nra.
Qed.

Lemma tends_unique f l l' : tends f l -> tends f l' -> l = l'.
Proof. intros H H'. apply is_lim_unique in H. apply is_lim_unique in H'. rewrite H in H'. congruence. Qed.
Lemma tends_const c : tends (fun _ => c) c.
Proof. apply is_lim_const. Qed.
Lemma tends_plus f h l m : tends f l -> tends h m -> tends (fun t => f t + h t) (l + m).
Proof. apply is_lim_plus'. Qed.
Lemma tends_minus f h l m : tends f l -> tends h m -> tends (fun t => f t - h t) (l - m).
Proof. apply is_lim_minus'. Qed.
Lemma tends_mult f h l m : tends f l -> tends h m -> tends (fun t => f t * h t) (l * m).
Proof. intros. apply (is_lim_mult f h p_infty l m); simpl; auto. Qed.
Lemma tends_unary (u : R -> R) f l k : is_derive u l k -> tends f l -> tends (fun t => u (f t)) (u l).
Proof. intros D H. apply (is_lim_comp_continuous f u p_infty l H), (steady_at u l k D). Qed.
Lemma tends_Sum n (f : nat -> R -> R) l : (forall i, (i < n)%nat -> tends (f i) (l i)) -> tends (fun t => Sum n (fun i => f i t)) (Sum n l).
Proof. induction n as [|n IH]; intros H; simpl; [apply tends_const|apply tends_plus; auto]. Qed.
Lemma tends_dot d (x z : R -> nat -> R) p q : (forall i, (i < d)%nat -> tends (fun t => x t i) (p i)) ->
  (forall i, (i < d)%nat -> tends (fun t => z t i) (q i)) -> tends (fun t => dot d (x t) (z t)) (dot d p q).
Proof. intros A B. apply (tends_Sum d (fun i t => x t i * z t i)). intros. apply tends_mult; auto. Qed.

(* multipliers: a vector orthogonal to the kernel of X is a combination of the rows of X *)
Lemma multipliers d n (X : nat -> nat -> R) (p : nat -> R) :
  (forall v, (forall j, (j < n)%nat -> dot d (X j) v = 0) -> dot d p v = 0) ->
  exists nu : nat -> R, forall i, (i < d)%nat -> p i = Sum n (fun j => X j i * nu j).
Proof.
  revert p. induction n as [|n IH]; intros p H.
  - exists (fun _ => 0). apply dot_eq0, H. intros; lia.
  - assert (E : exists c, forall v, (forall j, (j < n)%nat -> dot d (X j) v = 0) -> dot d p v = c * dot d (X n) v).
    { destruct (classic (exists v, (forall j, (j < n)%nat -> dot d (X j) v = 0) /\ dot d (X n) v <> 0)) as [[e [K0 N0]]|N].
      - exists (dot d p e / dot d (X n) e). intros v K.
        assert (L : forall z, dot d z (fun i => dot d (X n) e * v i - dot d (X n) v * e i) = dot d (X n) e * dot d z v - dot d (X n) v * dot d z e).
        { intros z. rewrite dot_minus_r, !dot_scal_r. reflexivity. }
        apply (Rmult_eq_reg_l (dot d (X n) e)); [|exact N0]. transitivity (dot d (X n) v * dot d p e); [|field; exact N0].
        apply Rminus_diag_uniq. rewrite <- L. apply H. intros j hj. rewrite L.
        destruct (Nat.eq_dec j n) as [->|]; [ring|rewrite (K j), (K0 j) by lia; ring].
      - exists 0. intros v K. rewrite Rmult_0_l. apply H. intros j hj. destruct (Nat.eq_dec j n) as [->|]; [|apply K; lia].
        apply NNPP. intros Z. apply N. exists v. auto. }
    destruct E as [c E]. destruct (IH (fun i => p i - c * X n i)) as [nu F].
    { intros v K. rewrite dot_minus, dot_scal, (E v K). ring. }
    exists (fun j => if Nat.eqb j n then c else nu j). intros i hi. simpl. rewrite Nat.eqb_refl, (Sum_ext n _ (fun j => X j i * nu j)).
    + generalize (F i hi). lra.
    + intros j hj. destruct (Nat.eqb_spec j n); [lia|reflexivity].
Qed.
(* ------------------------------------------------------------------ *)
(* The mirror flow: what has to be shown of a model *)

Section Core.
Variables (d : nat) (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (G : (nat -> R) -> nat -> R).
Variables (beta y lam : R -> nat -> R) (g : R -> R).
Hypothesis inside : forall t, 0 <= t -> dom (beta t).
Hypothesis slope : forall b, dom b -> gradient d Q b (G b).
Hypothesis excess : forall b c, dom b -> dom c ->
  exists e, 0 <= e /\ (e = 0 -> agree d b c) /\ Q c = Q b + dot d (G b) (fun i => c i - b i) + e.
Hypothesis steady : forall b f, dom b -> (forall i, (i < d)%nat -> tends (fun t => f t i) (b i)) ->
  forall i, (i < d)%nat -> tends (fun t => G (f t) i) (G b i).
Hypothesis dual : forall t i, 0 <= t -> (i < d)%nat -> G (beta t) i = y t i.
Hypothesis start : forall i, (i < d)%nat -> y 0 i = 0.
Hypothesis moves : forall t i, 0 <= t -> (i < d)%nat -> is_derive (fun s => y s i) t (g t * lam t i).
Hypothesis warped : forall t, 0 <= t -> 0 < g t.

Section Rows.
Variables (n : nat) (X : nat -> nat -> R) (r : R -> nat -> R).
Hypothesis rows : forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * r t j).

Lemma seen v t : 0 <= t -> is_derive (fun s => dot d v (y s)) t (g t * Sum n (fun j => r t j * dot d (X j) v)).
Proof.
  intros ht. evar_last; [apply (dot_derive d y); intros; apply moves; assumption|].
  rewrite dot_scal_r, dot_comm, (dot_Sum d n (r t) X) by (intros; apply rows; assumption). reflexivity.
Qed.
Lemma slope_is v t : 0 <= t -> dot d (G (beta t)) v = dot d v (y t).
Proof. intros ht. rewrite dot_comm. apply Sum_ext. intros i hi. rewrite dual by assumption. reflexivity. Qed.
Lemma at_rest v : dot d v (y 0) = 0.
Proof. apply Sum_0. intros i hi. rewrite start by exact hi. ring. Qed.
(* the gradient is orthogonal to what no row sees *)
Lemma orthogonal v t : (forall j, (j < n)%nat -> dot d (X j) v = 0) -> 0 <= t -> dot d (G (beta t)) v = 0.
Proof.
  intros K ht. rewrite slope_is, <- (at_rest v) by exact ht. apply (law (fun s => dot d v (y s))); [|exact ht]. intros s hs.
  evar_last; [apply seen, hs|]. rewrite Sum_0; [ring|]. intros j hj. rewrite K by exact hj. ring.
Qed.
Lemma kkt b : dom b -> (forall v, (forall j, (j < n)%nat -> dot d (X j) v = 0) -> dot d (G b) v = 0) -> minimiser d n X dom Q b.
Proof.
  intros hb H c hc E. destruct (excess b c hb hc) as [e [P [U ->]]]. rewrite H.
  - split; [lra|]. intros Z. apply U. lra.
  - intros j hj. rewrite dot_minus_r, E by exact hj. ring.
Qed.
End Rows.

Lemma gradient_unique b p p' : gradient d Q b p -> gradient d Q b p' -> agree d p p'.
Proof.
  intros H H' i hi. rewrite <- (dot_kron d p i hi), <- (dot_kron d p' i hi), (dot_comm d _ p), (dot_comm d _ p').
  apply (same_derivative _ _ _ _ (H (kron i)) (H' (kron i))).
Qed.

Theorem mirror_regularizes : regularizes d dom Q beta lam.
Proof.
  constructor.
  - split; [exact inside|]. exists G, g. split; [exact slope|]. split; [|split; [exact warped|]].
    + intros i hi. rewrite dual by (lra || exact hi). apply start, hi.
    + intros t i ht hi. apply (is_derive_ext_loc (fun s => y s i)); [|apply moves; [lra|exact hi]].
      apply (filter_imp (fun s => 0 < s)); [|apply (open_gt 0), ht]. intros s hs. symmetry. apply dual; [lra|exact hi].
  - intros n X r H t ht. apply kkt; [apply inside, ht|]. intros v K. apply (orthogonal n X r); assumption.
  - intros n X r H b hb L.
    assert (O : forall v, (forall j, (j < n)%nat -> dot d (X j) v = 0) -> dot d (G b) v = 0).
    { intros v K. apply (tends_unique (fun t => dot d (G (beta t)) v)).
      - apply (tends_dot d (fun t => G (beta t)) (fun _ => v)); intros; [apply steady; assumption|apply tends_const].
      - apply (is_lim_ext_loc (fun _ => 0)); [|apply is_lim_const]. exists 0. intros t ht.
        symmetry. apply (orthogonal n X r); [assumption|assumption|lra]. }
    split; [apply kkt; assumption|]. destruct (multipliers d n X (G b) O) as [nu E]. exists nu. intros p P i hi.
    rewrite (gradient_unique b p (G b) P (slope b hb) i hi). apply E, hi.
  - intros n X r H P t ht c hc C. destruct (excess (beta t) c (inside t ht) hc) as [e [Pe [_ ->]]].
    set (v := fun i => c i - beta t i). enough (0 <= dot d (G (beta t)) v) by lra. rewrite slope_is, <- (at_rest v) by exact ht.
    apply (grows (fun t => 0 <= t) (fun s => dot d v (y s)) (fun s => g s * Sum n (fun j => r s j * dot d (X j) v))); try lra; [intros; lra| |].
    + intros s hs. apply (seen n X r H v s hs).
    + intros s hs. apply Rmult_le_pos; [left; apply warped, hs|]. apply Sum_ge0. intros j hj. apply Rmult_le_pos; [apply P; assumption|].
      unfold v. rewrite dot_minus_r. generalize (C j hj). lra.
Qed.
End Core.

(* the squared loss: the limit, where it interpolates, is the minimiser among what interpolates *)
Corollary squared_loss d dom Q beta lam : regularizes d dom Q beta lam -> forall n X (target : nat -> R) b,
  (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * (target j - dot d (X j) (beta t)))) ->
  dom b -> (forall i, (i < d)%nat -> tends (fun t => beta t i) (b i)) -> (forall j, (j < n)%nat -> dot d (X j) b = target j) ->
  forall c, dom c -> (forall j, (j < n)%nat -> dot d (X j) c = target j) -> Q b <= Q c /\ (Q c = Q b -> agree d b c).
Proof.
  intros R n X target b L hb T E c hc E'.
  destruct (at_limit _ _ _ _ _ R n X (fun t j => target j - dot d (X j) (beta t)) L b hb T) as [M _].
  apply M; [exact hc|]. intros j hj. rewrite E, E' by exact hj. reflexivity.
Qed.
(* Q by its second derivative S along curves *)
Section Second.
Variables (d : nat) (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (G : (nat -> R) -> nat -> R) (S : (nat -> R) -> (nat -> R) -> R).
Variables (beta lam : R -> nat -> R) (g : R -> R).
Hypothesis slope : forall (c : R -> nat -> R) s v, dom (c s) -> (forall i, (i < d)%nat -> is_derive (fun r => c r i) s (v i)) ->
  is_derive (fun r => Q (c r)) s (dot d (G (c s)) v).
Hypothesis start : forall i, (i < d)%nat -> G (beta 0) i = 0.
Hypothesis moves : forall t i, 0 <= t -> (i < d)%nat -> is_derive (fun s => G (beta s) i) t (g t * lam t i).
Hypothesis warped : forall t, 0 <= t -> 0 < g t.
Hypothesis inside : forall t, 0 <= t -> dom (beta t).

Lemma slope_gradient b : dom b -> gradient d Q b (G b).
Proof.
  intros hb v. evar_last; [apply (slope (line b v) 0 v); [rewrite line_0; exact hb|intros; apply line_derive]|].
  rewrite line_0. reflexivity.
Qed.
(* without convexity *)
Theorem mirrored : follows_mirror d dom Q beta lam.
Proof. split; [exact inside|]. exists G, g. split; [exact slope_gradient|]. split; [exact start|]. split; [exact warped|]. intros; apply moves; [lra|assumption]. Qed.

Hypothesis convex : forall b c s, dom b -> dom c -> 0 <= s <= 1 -> dom (fun i => b i + s * (c i - b i)).
Hypothesis second : forall (c : R -> nat -> R) s v, dom (c s) -> (forall i, (i < d)%nat -> is_derive (fun r => c r i) s (v i)) ->
  is_derive (fun r => dot d (G (c r)) v) s (S (c s) v).
Hypothesis definite : forall b v, dom b -> 0 <= S b v /\ (S b v = 0 -> forall i, (i < d)%nat -> v i = 0).
Hypothesis steady : forall b f, dom b -> (forall i, (i < d)%nat -> tends (fun t => f t i) (b i)) ->
  forall i, (i < d)%nat -> tends (fun t => G (f t) i) (G b i).

Theorem coupled : regularizes d dom Q beta lam.
Proof.
  apply (mirror_regularizes d dom Q G beta (fun t => G (beta t)) lam g); auto using slope_gradient. intros b c hb hc.
  set (v := fun i => c i - b i). assert (L : forall s, 0 <= s <= 1 -> dom (line b v s)) by (intros; apply convex; assumption).
  assert (E0 := line_0 b v). assert (E1 := line_1 b c). fold v in E1.
  destruct (remainder (fun s => 0 <= s <= 1) (fun s => Q (line b v s)) (fun s => dot d (G (line b v s)) v) (fun s => S (line b v s) v) 0 1)
    as [s [r [hs [hr E]]]]; try lra; [intros; lra| | |].
  - intros s hs. apply slope; [apply L, hs|intros; apply line_derive].
  - intros s hs. apply second; [apply L, hs|intros; apply line_derive].
  - rewrite E0, E1 in E. destruct (definite (line b v s) v (L s hs)) as [P U]. exists (S (line b v s) v * r). split; [|split].
    + apply Rmult_le_pos; lra.
    + intros Z i hi. apply Rmult_integral in Z. destruct Z as [Z|Z]; [|lra]. generalize (U Z i hi). unfold v. lra.
    + lra.
Qed.
End Second.
(* ------------------------------------------------------------------ *)
(* Curves: the inverse of an increasing h on an open interval, which is given by what holds on it *)

Definition inv (h : R -> R) (P : R -> Prop) (x : R) : R := real (Lub_Rbar (fun z => P z /\ h z <= x)).
Definition image (h : R -> R) (P : R -> Prop) (x : R) := exists z, P z /\ h z = x.

Section Inverse.
Variables (P : R -> Prop) (h h' : R -> R).
Hypothesis convex : forall x y z, P x -> P y -> x <= z <= y -> P z.
Hypothesis D : forall z, P z -> is_derive h z (h' z).
Hypothesis positive : forall z, P z -> 0 < h' z.

Lemma h_increasing x y : P x -> P y -> x < y -> h x < h y.
Proof. apply (increasing P h h' convex D), positive. Qed.
Lemma inv_left z : P z -> inv h P (h z) = z.
Proof.
  intros hz. unfold inv. rewrite (is_lub_Rbar_unique _ z); [reflexivity|]. split.
  - intros y [hy E]. simpl. destruct (Rle_lt_dec y z); [assumption|]. generalize (h_increasing z y hz hy r). lra.
  - intros b hb. apply hb. split; [exact hz|lra].
Qed.
Lemma image_convex x y z : image h P x -> image h P y -> x <= z <= y -> image h P z.
Proof.
  intros [a [ha <-]] [b [hb <-]] [h1 h2].
  destruct (Req_dec (h a) z) as [E|N]; [exists a; auto|]. destruct (Req_dec (h b) z) as [E|N']; [exists b; auto|].
  assert (a < b). { destruct (Rtotal_order a b) as [|[->|l]]; [assumption|lra|]. generalize (h_increasing b a hb ha l). lra. }
  destruct (IVT_interv (fun t => h t - z) a b) as [c [hc E]]; [|assumption|lra|lra|exists c; split; [apply (convex a b); assumption|lra]].
  intros t ht. apply continuity_pt_filterlim, (continuous_minus h (fun _ => z)); [|apply continuous_const].
  apply (steady_at h t (h' t)), D, (convex a b); assumption.
Qed.
Lemma image_all : (forall x, exists a, P a /\ h a <= x) -> (forall x, exists b, P b /\ x <= h b) -> forall x, image h P x.
Proof. intros A B x. destruct (A x) as [a [? ?]]. destruct (B x) as [b [? ?]]. apply (image_convex (h a) (h b)); [exists a|exists b|]; auto. Qed.

Hypothesis opened : forall z, P z -> locally z P.
Lemma surrounded z : P z -> exists a b, P a /\ P b /\ a < z < b.
Proof.
  intros hz. destruct (opened z hz) as [[e he] H]. exists (z - e / 2), (z + e / 2).
  split; [|split; [|lra]]; apply H; unfold ball; simpl; unfold AbsRing_ball, abs, minus, plus, opp; simpl; apply Rabs_def1; lra.
Qed.
Lemma image_open x : image h P x -> locally x (image h P).
Proof.
  intros [z [hz <-]]. destruct (surrounded z hz) as [a [b [ha [hb [h1 h2]]]]].
  apply (filter_imp (fun y => h a < y < h b)); [|apply around; split; apply h_increasing; assumption].
  intros y hy. apply (image_convex (h a) (h b)); [exists a|exists b|lra]; auto.
Qed.
Lemma inv_derive z : P z -> is_derive (inv h P) (h z) (/ h' z).
Proof.
  intros hz. destruct (surrounded z hz) as [a [b [ha [hb [h1 h2]]]]].
  assert (B : forall t, a <= t <= b -> P t) by (intros; apply (convex a b); assumption).
  assert (Prf : forall t, inv h P (h a) <= t <= inv h P (h b) -> derivable_pt h t).
  { intros t. rewrite !inv_left by assumption. intros ht. exists (h' t). apply is_derive_Reals, D, B, ht. }
  assert (C : continuity_pt (inv h P) (h z)).
  { apply (continuity_pt_recip_prelim h (inv h P) a b); [lra| | | |split; apply h_increasing; assumption].
    - intros; apply h_increasing; [apply B; lra|apply B; lra|lra].
    - intros; unfold comp, id. apply inv_left, B; assumption.
    - intros t ht. apply continuity_pt_filterlim, (steady_at h t (h' t)), D, B, ht. }
  assert (Prg : inv h P (h a) <= inv h P (h z) <= inv h P (h b)) by (rewrite !inv_left by assumption; lra).
  assert (E : derive_pt h (inv h P (h z)) (Prf _ Prg) = h' z).
  { apply derive_pt_eq_0. rewrite inv_left by exact hz. apply is_derive_Reals, D, hz. }
  apply is_derive_Reals. rewrite <- E, <- (Rmult_1_l (/ _)).
  apply (derivable_pt_lim_recip_interv h (inv h P) (h a) (h b) (h z) Prf C).
  - apply h_increasing; [assumption|assumption|lra].
  - split; apply h_increasing; assumption.
  - intros t ht. destruct (image_convex (h a) (h b) t) as [s [hs <-]]; [exists a|exists b| |]; auto.
    unfold comp, id. rewrite inv_left by exact hs. reflexivity.
  - rewrite E. generalize (positive z hz). lra.
Qed.
End Inverse.

(* A term of Q, q in a coordinate x of beta that moves by itself with the steering nu: slope dq, second derivative k *)
Record term_by (dom : R -> Prop) (q x nu dq k : R -> R) : Prop := {
  term_convex : forall a b c, dom a -> dom b -> a <= c <= b -> dom c;
  term_slope : forall a, dom a -> is_derive q a (dq a);
  term_second : forall a, dom a -> is_derive dq a (k a);
  term_positive : forall a, dom a -> 0 < k a;
  term_inside : forall t, 0 <= t -> dom (x t);
  term_start : dq (x 0) = 0;
  term_moves : forall t, 0 <= t -> is_derive x t (nu t / k (x t))
}.
Definition term dom q x nu := exists of : (R -> R) * (R -> R), term_by dom q x nu (fst of) (snd of).
(* Q as q x, and the flow of x, whose K is a function of x *)
Theorem explicit_term (dom : R -> Prop) (q mu kernel x nu K : R -> R) :
  (forall a b c, dom a -> dom b -> a <= c <= b -> dom c) -> (forall a, dom a -> is_derive q a (mu a)) ->
  (forall a, dom a -> is_derive mu a (1 / kernel a)) -> (forall a, dom a -> 0 < kernel a) ->
  (forall t, 0 <= t -> dom (x t)) -> (forall t, 0 <= t -> is_derive x t (K t * nu t)) -> (forall t, 0 <= t -> kernel (x t) = K t) ->
  mu (x 0) = 0 -> term dom q x nu.
Proof.
  intros C q' mu' k I x' E Z. exists (mu, fun a => 1 / kernel a). split; simpl; auto.
  - intros a ha. apply Rdiv_lt_0_compat; [lra|apply k, ha].
  - intros t ht. replace (nu t / _) with (K t * nu t); [apply x', ht|]. rewrite <- E by exact ht. field. generalize (k _ (I t ht)). lra.
Qed.
(* Q along a curve x = f z on the open interval where P holds: height x z where x = f z; the weights are at T on it *)
Theorem curve_term (P : R -> Prop) (f df : R -> R) (height : R -> R -> R) (dom : R -> Prop) (mu kernel x nu T K : R -> R) :
  (forall a b c, P a -> P b -> a <= c <= b -> P c) -> (forall z, P z -> locally z P) ->
  (forall z, P z -> is_derive f z (df z)) -> (forall z, P z -> 0 < df z) -> (forall a, dom a <-> image f P a) -> (forall t, 0 <= t -> f (T t) = x t) ->
  (forall z, P z -> is_derive (fun z => height (f z) z) z (mu z * df z)) -> (forall z, P z -> is_derive mu z (df z / kernel z)) ->
  (forall z, P z -> 0 < kernel z) -> (forall t, 0 <= t -> P (T t)) ->
  (forall t, 0 <= t -> is_derive x t (K t * nu t)) -> (forall t, 0 <= t -> kernel (T t) = K t) -> mu (T 0) = 0 ->
  term dom (fun a => height a (inv f P a)) x nu.
Proof.
  intros C O f' df' R B q' mu' k I x' E Z. assert (L := inv_left P f df C f' df'). assert (W := inv_derive P f df C f' df' O).
  assert (H : forall a, dom a -> exists z, P z /\ a = f z) by (intros a ha; apply R in ha; destruct ha as [z [hz <-]]; exists z; auto).
  assert (T' : forall t, 0 <= t -> inv f P (x t) = T t) by (intros t ht; rewrite <- B by exact ht; apply L, I, ht).
  apply (explicit_term _ _ (fun a => mu (inv f P a)) (fun a => kernel (inv f P a)) x nu K); auto.
  - intros a b c ha hb h. apply R. apply R in ha. apply R in hb. apply (image_convex P f df C f' df' a b); assumption.
  - intros a ha. destruct (H a ha) as [z [hz ->]]. generalize (df' z hz) (W z hz). intros dz Wz.
    apply (is_derive_ext_loc (fun a => height (f (inv f P a)) (inv f P a))).
    + apply (filter_imp (image f P)); [|apply (image_open P f df); auto; exists z; auto]. intros y [v [hv <-]]. rewrite (L v hv). reflexivity.
    + evar_last; [apply (d_comp (fun z => height (f z) z)); [rewrite (L z hz); apply q', hz|exact Wz]|]. rewrite (L z hz). field. lra.
  - intros a ha. destruct (H a ha) as [z [hz ->]]. generalize (df' z hz) (k z hz). intros dz kz.
    evar_last; [apply (d_comp mu); [rewrite (L z hz); apply mu', hz|apply W, hz]|]. rewrite (L z hz). field. lra.
  - intros a ha. destruct (H a ha) as [z [hz ->]]. rewrite (L z hz). apply k, hz.
  - intros t ht. apply R. exists (T t). auto.
  - intros t ht. rewrite T' by exact ht. apply E, ht.
  - rewrite T' by lra. exact Z.
Qed.
Lemma choose (A : Type) (a : A) d (R : nat -> A -> Prop) : (forall i, (i < d)%nat -> exists x, R i x) -> exists f, forall i, (i < d)%nat -> R i (f i).
Proof.
  induction d as [|d IH]; intros H; [exists (fun _ => a); lia|]. destruct IH as [f F]; [auto|]. destruct (H d ltac:(lia)) as [x X].
  exists (fun i => if Nat.eqb i d then x else f i). intros i hi. destruct (Nat.eqb_spec i d) as [->|]; [exact X|apply F; lia].
Qed.
(* Q is a sum of terms over d coordinates X_j = <V_j, b>, with lam = V^T nu *)
Theorem separable d (V : nat -> nat -> R) (X : nat -> (nat -> R) -> R) (dom : nat -> R -> Prop) (q : nat -> R -> R) (beta lam nu : R -> nat -> R) :
  (forall j b, (j < d)%nat -> X j b = dot d (V j) b) -> (forall b c, (forall j, (j < d)%nat -> X j b = X j c) -> agree d b c) ->
  (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum d (fun j => V j i * nu t j)) ->
  (forall j, (j < d)%nat -> term (dom j) (q j) (fun t => X j (beta t)) (fun t => nu t j)) ->
  regularizes d (fun b => forall i, (i < d)%nat -> dom i (X i b)) (fun b => Sum d (fun i => q i (X i b))) beta lam.
Proof.
  intros linear told steered terms. destruct (choose _ (fun x => x, fun x => x) d _ terms) as [of D].
  set (dq := fun j => fst (of j)). set (k := fun j => snd (of j)).
  assert (S : forall b v, dot d (fun i => Sum d (fun j => V j i * dq j (X j b))) v = Sum d (fun j => dq j (X j b) * dot d (V j) v)).
  { intros b v. apply (dot_Sum d d (fun j => dq j (X j b)) V). reflexivity. }
  assert (M : forall (c : R -> nat -> R) s v j, (j < d)%nat -> (forall i, (i < d)%nat -> is_derive (fun r => c r i) s (v i)) ->
    is_derive (fun r => X j (c r)) s (dot d (V j) v)).
  { intros c s v j hj H. apply (is_derive_ext (fun r => dot d (V j) (c r))); [intros; symmetry; apply linear, hj|apply dot_derive, H]. }
  apply (coupled d _ _ (fun b i => Sum d (fun j => V j i * dq j (X j b))) (fun b v => Sum d (fun j => k j (X j b) * dot d (V j) v ^ 2)) beta lam (fun _ => 1)).
  - intros c s v hs H. rewrite S. apply (Sum_derive d (fun j r => q j (X j (c r)))). intros j hj.
    apply (d_comp (q j) (fun r => X j (c r))); [apply (term_slope _ _ _ _ _ _ (D j hj)), hs, hj|apply M; assumption].
  - intros i hi. apply Sum_0. intros j hj. unfold dq. rewrite (term_start _ _ _ _ _ _ (D j hj)). ring.
  - intros t i ht hi. rewrite Rmult_1_l, steered by assumption. apply (Sum_derive d (fun j s => V j i * dq j (X j (beta s)))). intros j hj.
    apply d_scal. assert (I := term_inside _ _ _ _ _ _ (D j hj) t ht). assert (P := term_positive _ _ _ _ _ _ (D j hj) _ I).
    evar_last; [apply (d_comp (dq j) (fun s => X j (beta s))); [apply (term_second _ _ _ _ _ _ (D j hj)), I|apply (term_moves _ _ _ _ _ _ (D j hj)), ht]|].
    field. apply Rgt_not_eq, P.
  - intros; lra.
  - intros t ht i hi. apply (term_inside _ _ _ _ _ _ (D i hi)), ht.
  - intros b c s hb hc hs i hi. change (fun i => b i + s * (c i - b i)) with (line b (fun i => c i - b i) s).
    rewrite linear, dot_line, dot_minus_r, <- !linear by exact hi.
    destruct (Rle_dec (X i b) (X i c)); [apply (term_convex _ _ _ _ _ _ (D i hi) (X i b) (X i c))|apply (term_convex _ _ _ _ _ _ (D i hi) (X i c) (X i b))]; auto; nra.
  - intros c s v hs H. apply (is_derive_ext (fun r => Sum d (fun j => dq j (X j (c r)) * dot d (V j) v))); [intros; symmetry; apply S|].
    apply (Sum_derive d (fun j r => dq j (X j (c r)) * dot d (V j) v)). intros j hj.
    assert (W := d_comp (dq j) (fun r => X j (c r)) _ _ _ (term_second _ _ _ _ _ _ (D j hj) _ (hs j hj)) (M c s v j hj H)).
    evar_last; [apply (d_mult (fun r => dq j (X j (c r)))); [exact W|apply d_const]|unfold k; cbv beta; ring].
  - intros b v hb. assert (N : forall j, (j < d)%nat -> 0 < k j (X j b)) by (intros j hj; apply (term_positive _ _ _ _ _ _ (D j hj)), hb, hj).
    assert (P : forall j, (j < d)%nat -> 0 <= k j (X j b) * dot d (V j) v ^ 2).
    { intros j hj. apply Rmult_le_pos; [left; apply N, hj|apply pow2_ge_0]. }
    split; [apply Sum_ge0, P|]. intros E. apply (told v (fun _ => 0)). intros j hj. rewrite !linear by exact hj.
    replace (dot d (V j) (fun _ => 0)) with 0 by (symmetry; apply Sum_0; intros; ring). apply (square_0 _ _ (N j hj)), (Sum_eq0 d _ P E j hj).
  - intros b c hb L i hi. apply (tends_Sum d (fun j t => V j i * dq j (X j (c t)))). intros j hj. apply tends_mult; [apply tends_const|].
    apply (tends_unary (dq j) (fun t => X j (c t)) _ _ (term_second _ _ _ _ _ _ (D j hj) _ (hb j hj))).
    rewrite linear by exact hj. apply (is_lim_ext (fun t => dot d (V j) (c t))); [intros; symmetry; apply linear, hj|].
    apply (tends_dot d (fun _ => V j) c); intros; [apply tends_const|apply L; assumption].
Qed.
(* d copies of one output, each a coordinate *)
Corollary copies d (dom : nat -> R -> Prop) (q : nat -> R -> R) (beta lam : R -> nat -> R) :
  (forall i, (i < d)%nat -> term (dom i) (q i) (fun t => beta t i) (fun t => lam t i)) ->
  regularizes d (fun b => forall i, (i < d)%nat -> dom i (b i)) (fun b => Sum d (fun i => q i (b i))) beta lam.
Proof.
  intros H. apply (separable d kron (fun j b => b j) dom q beta lam lam); [|intros b c E; exact E| |exact H].
  - intros j b hj. symmetry. apply dot_kron, hj.
  - intros t i _ hi. rewrite <- (Sum_kron d (lam t) i hi) at 1. apply Sum_ext. intros j _. unfold kron. rewrite Nat.eqb_sym. reflexivity.
Qed.
(* ------------------------------------------------------------------ *)
(* The weights *)

Lemma flow_at p d rate F w lam : flow p d rate F w lam -> forall t k J, 0 <= t -> (k < p)%nat ->
  (forall i, (i < d)%nat -> partial (fun v => F v i) k (w t) (J i)) -> is_derive (fun s => w s k) t (rate k (w t) * dot d J (lam t)).
Proof.
  intros [_ H] t k J ht hk P. destruct (H t k ht hk) as [J' [P' D]]. replace (dot d J (lam t)) with (dot d J' (lam t)); [exact D|].
  apply Sum_ext. intros i hi. rewrite (same_derivative _ _ _ _ (P i hi) (P' i hi)). reflexivity.
Qed.
(* ------------------------------------------------------------------ *)
(* Refutations *)

(* f is differentiable at b, with differential p: along every curve through b (Hadamard; in R^d the same as Frechet) *)
Definition differential d (f : (nat -> R) -> R) (b p : nat -> R) :=
  forall (c : R -> nat -> R) v, (forall i, c 0 i = b i) -> (forall i, (i < d)%nat -> is_derive (fun s => c s i) 0 (v i)) ->
  is_derive (fun s => f (c s)) 0 (dot d p v).
(* The claim of a refutation: near w0 no gradient G (of a three times differentiable Q, whose derivatives are symmetric)
   and no positive differentiable g on the weights have (G o F)' = g * steering along the flow, whatever the steering. *)
Definition velocity p (F : (nat -> R) -> nat -> R) (a : nat) (w : nat -> R) (c : R -> nat -> R) :=
  (forall k, c 0 k = w k) /\ forall k, (k < p)%nat -> exists l, partial (fun v => F v a) k w l /\ is_derive (fun s => c s k) 0 l.
Definition near n (x y : nat -> R) (eps : R) := forall k, (k < n)%nat -> Rabs (x k - y k) < eps.
Definition no_potential p d (F : (nat -> R) -> nat -> R) (w0 : nat -> R) :=
  forall (G : nat -> (nat -> R) -> R) (Hess : nat -> nat -> (nat -> R) -> R) (T : nat -> nat -> nat -> R)
    (g : (nat -> R) -> R) (Dg : nat -> R) (eps : R), 0 < eps ->
  (forall b i, near d b (F w0) eps -> (i < d)%nat -> differential d (G i) b (fun j => Hess i j b)) ->
  (forall i j, (i < d)%nat -> (j < d)%nat -> Hess i j (F w0) = Hess j i (F w0)) ->
  (forall i j, (i < d)%nat -> (j < d)%nat -> differential d (Hess i j) (F w0) (T i j)) ->
  (forall i j k, (i < d)%nat -> (j < d)%nat -> (k < d)%nat -> T i j k = T j i k /\ T i j k = T i k j) ->
  0 < g w0 -> differential p g w0 Dg ->
  (forall w a c i, near p w w0 eps -> (a < d)%nat -> (i < d)%nat -> velocity p F a w c ->
     is_derive (fun s => G i (F (c s))) 0 (g w * kron i a)) ->
  False.

Lemma near_along n (c : R -> nat -> R) l eps : 0 < eps -> (forall k, (k < n)%nat -> is_derive (fun s => c s k) 0 (l k)) ->
  locally 0 (fun s => near n (c s) (c 0) eps).
Proof.
  intros h. induction n as [|n IH]; intros D; [apply filter_forall; intros s k hk; lia|].
  assert (C : locally 0 (fun s => Rabs (c s n - c 0 n) < eps)).
  { apply (steady_at _ _ _ (D n (Nat.lt_succ_diag_r n)) (fun y => Rabs (y - c 0 n) < eps)). exists (mkposreal eps h). intros y hy. exact hy. }
  generalize (filter_and _ _ (IH (fun k hk => D k (Nat.lt_lt_succ_r _ _ hk))) C). apply filter_imp.
  intros s [A B] k hk. destruct (Nat.eq_dec k n) as [->|]; [exact B|apply A; lia].
Qed.
(* Hess Q (F w) K w = g w 1 at w0, and its derivatives in each weight: linear equations on H, T = dH/dbeta, g and h = dg,
   where DK m is dK/dw_m; where they have no solution with g > 0, there is no potential *)
Theorem no_potential_by p d F (J : nat -> (nat -> R) -> nat -> R) (K : nat -> nat -> (nat -> R) -> R) (DK : nat -> nat -> nat -> R) w0 :
  (forall w a k, (a < d)%nat -> (k < p)%nat -> partial (fun v => F v a) k w (J a w k)) ->
  (forall w a i, (a < d)%nat -> (i < d)%nat -> is_derive (fun s => F (line w (J a w) s) i) 0 (K i a w)) ->
  (forall m j k, (m < p)%nat -> (j < d)%nat -> (k < d)%nat -> is_derive (fun s => K j k (line w0 (kron m) s)) 0 (DK m j k)) ->
  (forall H T g h, 0 < g -> (forall i j, (i < d)%nat -> (j < d)%nat -> H i j = H j i) ->
     (forall i j k, (i < d)%nat -> (j < d)%nat -> (k < d)%nat -> T i j k = T j i k /\ T i j k = T i k j) ->
     (forall i k, (i < d)%nat -> (k < d)%nat -> Sum d (fun j => H i j * K j k w0) = g * kron i k) ->
     (forall m i k, (m < p)%nat -> (i < d)%nat -> (k < d)%nat ->
        Sum d (fun j => Sum d (fun l => T i j l * J l w0 m) * K j k w0 + H i j * DK m j k) = h m * kron i k) -> False) ->
  no_potential p d F w0.
Proof.
  intros HJ HK HD C G Hess T g Dg eps heps DG SH DH ST gp Dg' L.
  assert (E : forall w i k, near p w w0 eps -> near d (F w) (F w0) eps -> (i < d)%nat -> (k < d)%nat ->
     Sum d (fun j => Hess i j (F w) * K j k w) = g w * kron i k).
  { intros w i k hw hb hi hk. apply (same_derivative (fun s => G i (F (line w (J k w) s))) 0).
    - apply (DG (F w) i hb hi (fun s => F (line w (J k w) s)) (fun j => K j k w)); intros; [rewrite line_0; reflexivity|apply HK; assumption].
    - apply L; try assumption. split; [intros; rewrite line_0; reflexivity|]. intros m hm. exists (J k w m).
      split; [apply HJ; assumption|apply line_derive]. }
  assert (HF : forall m i, (m < p)%nat -> (i < d)%nat -> is_derive (fun s => F (line w0 (kron m) s) i) 0 (J i w0 m)).
  { intros m i hm hi. apply (is_derive_ext (fun s => F (upd w0 m (w0 m + s)) i)).
    - intros s. f_equal. apply FunctionalExtensionality.functional_extensionality. intros k. unfold upd, line, kron. rewrite Nat.eqb_sym.
      destruct (Nat.eqb_spec m k) as [->|n]; ring.
    - evar_last; [apply (d_comp (fun x => F (upd w0 m x) i) (fun s => w0 m + s)); [rewrite Rplus_0_r; apply HJ; assumption|diff]|cbv beta; ring]. }
  apply (C (fun i j => Hess i j (F w0)) T (g w0) (fun m => dot p Dg (kron m))); try assumption.
  - intros i k hi hk. apply E; try assumption; intros n hn; rewrite Rminus_eq_0, Rabs_R0; exact heps.
  - intros m i k hm hi hk. set (c := line w0 (kron m)).
    apply (same_derivative (fun s => Sum d (fun j => Hess i j (F (c s)) * K j k (c s))) 0).
    + apply (Sum_derive d (fun j s => Hess i j (F (c s)) * K j k (c s))). intros j hj. rewrite <- (line_0 w0 (kron m)). fold c.
      apply (d_mult (fun s => Hess i j (F (c s))) (fun s => K j k (c s))); [|apply HD; assumption]. unfold c at 2. rewrite line_0.
      apply (DH i j hi hj (fun s => F (c s)) (fun l => J l w0 m)); intros; [unfold c; rewrite line_0; reflexivity|apply HF; assumption].
    + apply (is_derive_ext_loc (fun s => g (c s) * kron i k)).
      * assert (N := near_along p c (kron m) eps heps (fun n _ => line_derive _ _ _ _)).
        assert (N' := near_along d (fun s => F (c s)) _ eps heps (fun n hn => HF m n hm hn)).
        generalize (filter_and _ _ N N'). apply filter_imp. unfold c at 2 4. rewrite line_0. intros s [N1 N2]. symmetry. apply E; assumption.
      * apply (is_derive_scal_l (fun s => g (c s)) 0 (dot p Dg (kron m)) (kron i k)).
        apply (Dg' c); intros; [unfold c; rewrite line_0; reflexivity|apply line_derive].
Qed.
(* ------------------------------------------------------------------ *)
(* For the generated files: signs, by the form of what is written *)

Lemma even_ge0 n x : Nat.even n = true -> 0 <= x ^ n.
Proof. intros E. apply Nat.even_spec in E. destruct E as [m ->]. rewrite pow_mult. apply pow_le, pow2_ge_0. Qed.
Lemma even_gt0 n x : Nat.even n = true -> x <> 0 -> 0 < x ^ n.
Proof. intros E N. destruct (even_ge0 n x E) as [|Z]; [assumption|]. destruct (pow_nonzero x n N). auto. Qed.
Lemma ge0_off x : 0 <= x -> x <> 0 -> 0 < x.
Proof. intros [h|<-] n; [exact h|destruct (n eq_refl)]. Qed.
Lemma tanh_within x : 0 < 1 - tanh x /\ 0 < tanh x + 1.
Proof.
  assert (C := cosh_pos x). split; [replace (1 - tanh x) with (exp (- x) / cosh x)|replace (tanh x + 1) with (exp x / cosh x)];
    try (apply Rdiv_lt_0_compat; [apply exp_pos|exact C]); unfold tanh, cosh, sinh in *; field; lra.
Qed.
Lemma off_0 x : 0 < x -> x <> 0.
Proof. lra. Qed.
Lemma parts a b : 0 < a * b -> (a <> 0 /\ - a <> 0) /\ b <> 0.
Proof. intros h. repeat split; intros E; [|assert (Z : a = 0) by lra|]; subst; lra. Qed.
Lemma amid k a b c : 0 < k * a -> 0 < k * b -> a <= c <= b -> 0 < k * c.
Proof. intros ha hb h. destruct (Rle_dec 0 k); nra. Qed.
Ltac amid a b c := first [lra | apply (amid _ a b c); [assumption|assumption|split; assumption]].
(* equations say nothing of signs *)
Ltac no_equations := repeat match goal with H : @eq R _ _ |- _ => clear H end.
Ltac lin := no_equations; lra.
Ltac pos := first [assumption | lazymatch goal with
  | |- 0 < PI => apply PI_RGT_0
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < 1 - tanh _ => apply tanh_within
  | |- 0 < tanh _ + 1 => apply tanh_within
  | |- 0 < cosh _ => apply cosh_pos
  | |- 0 < Rpower _ _ => apply exp_pos
  | |- 0 < sqrt _ => apply sqrt_lt_R0; pos
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; pos
  | |- 0 < _ / _ => apply Rdiv_lt_0_compat; pos
  | |- 0 < / _ => apply Rinv_0_lt_compat; pos
  | |- 0 < _ ^ _ => first [apply even_gt0; [reflexivity|nz] | apply pow_lt; pos]
  | |- 0 < _ + _ => first [apply ge0_off; [|assumption]; apply Rplus_le_le_0_compat; nn
      | apply Rplus_le_lt_0_compat; [nn|pos] | apply Rplus_lt_le_0_compat; [pos|nn]]
  end | lin]
with nn := first [assumption | lazymatch goal with
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 <= cosh _ => left; apply cosh_pos
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 <= _ * _ => apply Rmult_le_pos; nn
  | |- 0 <= _ / _ => apply Rdiv_le_0_compat; [nn|pos]
  | |- 0 <= _ ^ _ => first [apply even_ge0; reflexivity | apply pow_le; nn]
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; nn
  | |- _ => left; assumption
  end | lin]
with nz := first [assumption | lazymatch goal with
  | |- _ * _ <> 0 => apply Rmult_integral_contrapositive_currified; nz
  | |- _ / _ <> 0 => apply Rmult_integral_contrapositive_currified; [nz|apply Rinv_neq_0_compat; nz]
  | |- _ ^ _ <> 0 => apply pow_nonzero; nz
  | |- - _ <> 0 => apply Ropp_neq_0_compat; nz
  end | match goal with H : 0 < ?a * ?b |- _ => first [apply (proj1 (parts a b H)) | apply (proj2 (parts a b H))] end
  | apply off_0; pos | no_equations; intro; lra].
Ltac sides := repeat match goal with |- _ /\ _ => split end; try exact I;
  first [nz | match goal with |- ?e <> 0 => ring_simplify e; nz end].
(* what grows with one of its terms *)
Ltac up := first [assumption | apply Rle_refl | lazymatch goal with
  | |- _ + _ <= _ + _ => apply Rplus_le_compat; up
  | |- _ - _ <= _ - _ => apply Rplus_le_compat; up
  | |- _ / _ <= _ / _ => apply Rmult_le_compat_r; [left; pos|up]
  | |- _ * _ <= _ * _ => apply Rmult_le_compat_l; [nn|up]
  | |- sqrt _ <= sqrt _ => apply sqrt_le_1_alt; up
  | |- _ ^ _ <= _ ^ _ => apply pow_incr; split; [nn|up]
  end].
Ltac begun w := repeat match goal with H : w 0 _ = _ |- _ => try rewrite H in *; clear H end.
Ltac hyps := intros; repeat match goal with H : _ /\ _ |- _ => destruct H end.

(* ---- functions and their rules *)
Lemma cos_rule x : cos x ^ 2 = 1 - sin x ^ 2.
Proof. generalize (sin2_cos2 x). unfold Rsqr. simpl. lra. Qed.
Lemma arcsinh_opp x : arcsinh (- x) = - arcsinh x.
Proof.
  rewrite <- (arcsinh_sinh (- arcsinh x)). f_equal. transitivity (- sinh (arcsinh x)); [rewrite sinh_arcsinh; ring|].
  unfold sinh. rewrite Ropp_involutive. field.
Qed.
Lemma arcsinh_positive u : 0 < u + sqrt (u ^ 2 + 1).
Proof.
  assert (P := pow2_ge_0 u). assert (S : 0 < sqrt (u ^ 2 + 1)) by (apply sqrt_lt_R0; lra).
  assert (E := sqrt_sqrt (u ^ 2 + 1)). nra.
Qed.
Lemma root_is e r : 0 <= r -> r ^ 2 = e -> sqrt e = r.
Proof. intros h <-. apply sqrt_pow2; exact h. Qed.
Lemma power_is e r s n : s = INR n * r -> Rpower e s = Rpower e r ^ n.
Proof. intros ->. rewrite <- Rpower_pow by apply exp_pos. rewrite Rpower_mult. f_equal. ring. Qed.
Lemma power_rule e r n : 0 < e -> r * INR n = 1 -> Rpower e r ^ n = e.
Proof. intros P E. rewrite <- (power_is e r 1) by lra. apply Rpower_1, P. Qed.
Lemma power_root e r b n : 0 < b -> r * INR n = 1 -> b ^ n = e -> Rpower e r = b.
Proof. intros P E <-. rewrite <- Rpower_pow by exact P. rewrite Rpower_mult, Rmult_comm, E. apply Rpower_1, P. Qed.
Lemma exp_is e r : 0 < r -> e = ln r -> exp e = r.
Proof. intros P ->. apply exp_ln; exact P. Qed.
Lemma same_power n a b : 0 <= a -> 0 <= b -> a ^ S n = b ^ S n -> a = b.
Proof.
  assert (W : forall a b, 0 <= a -> a < b -> a ^ S n < b ^ S n).
  { intros x y h l. simpl. generalize (pow_incr x y n) (pow_lt y n). nra. }
  intros ha hb E. destruct (Rtotal_order a b) as [l|[l|l]]; [generalize (W a b ha l)|exact l|generalize (W b a hb l)]; lra.
Qed.
(* logarithms of products of positive things *)
Ltac logs := repeat first [rewrite ln_mult by pos | rewrite ln_div by pos | rewrite ln_Rinv by pos | rewrite ln_pow by pos | rewrite ln_1 | rewrite ln_exp];
  simpl INR.

(* ---- limits, and continuity of sums of what is differentiable times steering *)
Ltac lim := cbv beta; first [assumption | lazymatch goal with
  | |- tends (fun _ => ?c) _ => apply tends_const
  | |- tends (fun t => @?f t + @?h t) (_ + _) => apply (tends_plus f h); lim
  | |- tends (fun t => @?f t - @?h t) (_ - _) => apply (tends_minus f h); lim
  | |- tends (fun t => - @?f t) (- ?l) => eapply (tends_unary Ropp f l); [apply (d_opp (fun x => x)), d_id|lim]
  | |- tends (fun t => @?f t * @?h t) (_ * _) => apply (tends_mult f h); lim
  | |- tends (fun t => @?f t / @?h t) (_ / ?l) => apply (tends_mult f (fun t => / h t)); [lim|
      lazymatch h with (fun _ => ?c) => apply tends_const | _ => eapply (tends_unary Rinv h l); [unary|lim] end]
  | |- tends (fun t => @?f t ^ ?n) (?l ^ _) => eapply (tends_unary (fun x => x ^ n) f l); [unary|lim]
  | |- tends (fun t => Rpower (@?f t) ?c) (Rpower ?l _) => eapply (tends_unary (fun x => Rpower x c) f l); [unary|lim]
  | |- tends (fun t => ?u (@?f t)) (_ ?l) => eapply (tends_unary u f l); [unary|lim]
  end].
Ltac cont := cbv beta; lazymatch goal with
  | |- continuous (fun s => @?f s + @?g s) _ => apply (continuous_plus f g); cont
  | |- continuous (fun s => @?f s * @?g s) _ => apply (continuous_mult f g); [eapply steady_at; diff|auto]
  | _ => apply continuous_const
  end.

(* ---- curves: beta itself is the coordinate; open intervals; every value is taken *)
Lemma open_above (f : R -> R) z : ex_derive f z -> 0 < f z -> locally z (fun y => 0 < f y).
Proof. intros D h. apply (ex_derive_continuous f z D (fun y => 0 < y)), (open_gt 0), h. Qed.
Ltac opens := lazymatch goal with
  | |- locally _ (fun _ => True) => apply filter_forall; auto
  | |- locally _ (fun y => 0 < @?f y) => apply (open_above f); [eexists; diff|assumption]
  | _ => apply filter_and; opens
  end.
(* towards the end with the sign s: s f = g + r, where r grows that way and g has no bound *)
Lemma far (P : R -> Prop) (f g r k : R -> R) s : s * s = 1 -> (forall x y z, P x -> P y -> x <= z <= y -> P z) -> P 0 ->
  (forall z, P z -> s * f z = g z + r z) -> (forall z, P z -> is_derive r z (s * k z)) -> (forall z, P z -> 0 <= k z) ->
  (forall y, exists z, P z /\ 0 <= s * z /\ y <= g z) -> forall x, exists z, P z /\ x <= s * f z.
Proof.
  intros S C O E D N G x. destruct (G (x - r 0)) as [z [hz [h hg]]]. exists z. split; [exact hz|]. rewrite E by exact hz.
  enough (r 0 <= r z) by lra. destruct (Req_dec 0 z) as [<-|n]; [lra|].
  destruct (mean P r (fun z => s * k z) C D 0 z O hz n) as [c [hc [_ V]]].
  assert (0 <= k c * (s * z)) by (apply Rmult_le_pos; [apply N, hc|exact h]). lra.
Qed.
Lemma large c n y : 0 < c -> (0 < n)%nat -> y <= c * (1 + (y / c) ^ 2) ^ n.
Proof.
  intros h hn. set (u := y / c). replace y with (c * u) by (unfold u; field; lra). apply Rmult_le_compat_l; [lra|].
  assert (B : 1 <= 1 + u ^ 2) by (generalize (pow2_ge_0 u); lra). apply Rle_trans with ((1 + u ^ 2) ^ 1); [nra|].
  apply Rle_pow; [exact B|lia].
Qed.
(* convex domains and squares *)
Lemma between s x y z : 0 <= s <= 1 -> 0 < x -> 0 < y -> 0 <= z -> 0 < (1 - s) * x + s * y + s * (1 - s) * z.
Proof.
  intros h hx hy hz. assert (0 <= s * (1 - s)) by nra. assert (0 <= s * (1 - s) * z) by (apply Rmult_le_pos; lra).
  destruct (Req_dec s 0) as [->|n]; [lra|]. assert (0 < s * y) by (apply Rmult_lt_0_compat; lra). nra.
Qed.
Lemma square_off x : 0 < x ^ 2 -> x <> 0.
Proof. intros h ->. simpl in h. lra. Qed.
