//! BlueFlame as libmlx5's environment variables want it.

use crate::queue::BlueFlamePolicy;

/// When to copy WQEs to BlueFlame, by the environment variables that libmlx5 reads when it opens a device (rdma-core
/// `providers/mlx5/mlx5.c`, `get_shut_up_bf`, `get_always_bf`).
pub(crate) fn blueflame_policy() -> BlueFlamePolicy {
    policy_of(|variable| std::env::var_os(variable).map(|value| value != "0"))
}

/// As [`blueflame_policy`]; `switch` says whether a variable is on, if it is there.
fn policy_of(switch: impl Fn(&str) -> Option<bool>) -> BlueFlamePolicy {
    match (switch("MLX5_SHUT_UP_BF"), switch("MLX5_POST_SEND_PREFER_BF")) {
        (Some(true), _) => BlueFlamePolicy::Never,
        (_, Some(false)) => BlueFlamePolicy::Inline,
        _ => BlueFlamePolicy::Prefer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_when_to_copy() {
        for (shut_up, prefer, policy) in [
            (None, None, BlueFlamePolicy::Prefer),
            (Some(false), Some(true), BlueFlamePolicy::Prefer),
            (None, Some(false), BlueFlamePolicy::Inline),
            (Some(true), Some(true), BlueFlamePolicy::Never),
        ] {
            let switch = |variable: &str| if variable == "MLX5_SHUT_UP_BF" { shut_up } else { prefer };
            assert_eq!(policy_of(switch), policy);
        }
    }
}
